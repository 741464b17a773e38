// The keys of the tenant's nodes that are checked page by page, except events, which verify/events pages itself.
//
// Each part reads the tenant's own range of an index: walking the unique keys would pass through all tenants.
//
// mode: read
// row:  kind, key
CALL () {
  MATCH (record:Session)
  USING INDEX SEEK record:Session(tenant_id, changed_version)
  WHERE record.tenant_id = $tenant_id AND record.changed_version IS NOT NULL
  RETURN 'sessions' AS kind, record.key AS key
  UNION ALL
  MATCH (record:Entity)
  USING INDEX SEEK record:Entity(tenant_id, type)
  WHERE record.tenant_id = $tenant_id AND record.type IS NOT NULL
  RETURN 'entities' AS kind, record.key AS key
  UNION ALL
  MATCH (record:Memory)
  USING INDEX SEEK record:Memory(tenant_id, kind)
  WHERE record.tenant_id = $tenant_id AND record.kind IS NOT NULL
  RETURN 'memories' AS kind, record.key AS key
  UNION ALL
  MATCH (record:Artifact)
  USING INDEX SEEK record:Artifact(tenant_id, recorded_us)
  WHERE record.tenant_id = $tenant_id AND record.recorded_us IS NOT NULL
  RETURN 'artifacts' AS kind, record.key AS key
  UNION ALL
  MATCH (record:Conflict)
  USING INDEX SEEK record:Conflict(tenant_id, status)
  WHERE record.tenant_id = $tenant_id AND record.status IS NOT NULL
  RETURN 'conflicts' AS kind, record.key AS key
  UNION ALL
  MATCH (record:TaskRecord)
  USING INDEX SEEK record:TaskRecord(tenant_id, created_us)
  WHERE record.tenant_id = $tenant_id AND record.created_us IS NOT NULL
  RETURN 'task_records' AS kind, record.key AS key
}
RETURN kind, key
ORDER BY kind, key
