// The server's ids of all nodes of the tenant, label by label, the tenant's own node last: one row.
//
// A backup reads everything; for most labels the nodes of all tenants are scanned, because not every node is in an
// index that begins with the tenant. API keys are left out: each server has its own.
//
// mode: read
// row:  ids
CALL () {
  MATCH (node:Session)
  USING INDEX SEEK node:Session(tenant_id, key)
  WHERE node.tenant_id = $tenant_id AND node.key > ''
  RETURN collect(elementId(node)) AS ids
  UNION ALL
  MATCH (node:Event)
  USING INDEX SEEK node:Event(tenant_id, time_us)
  WHERE node.tenant_id = $tenant_id AND node.time_us IS NOT NULL
  RETURN collect(elementId(node)) AS ids
  UNION ALL
  MATCH (node:Awaited)
  USING INDEX SEEK node:Awaited(key)
  WHERE node.tenant_id = $tenant_id AND node.key > ''
  RETURN collect(elementId(node)) AS ids
  UNION ALL
  MATCH (node:Entity)
  USING INDEX SEEK node:Entity(key)
  WHERE node.tenant_id = $tenant_id AND node.key > ''
  RETURN collect(elementId(node)) AS ids
  UNION ALL
  MATCH (node:Memory)
  USING INDEX SEEK node:Memory(key)
  WHERE node.tenant_id = $tenant_id AND node.key > ''
  RETURN collect(elementId(node)) AS ids
  UNION ALL
  MATCH (node:Artifact)
  USING INDEX SEEK node:Artifact(key)
  WHERE node.tenant_id = $tenant_id AND node.key > ''
  RETURN collect(elementId(node)) AS ids
  UNION ALL
  MATCH (node:Conflict)
  USING INDEX SEEK node:Conflict(key)
  WHERE node.tenant_id = $tenant_id AND node.key > ''
  RETURN collect(elementId(node)) AS ids
  UNION ALL
  MATCH (node:Fingerprint)
  USING INDEX SEEK node:Fingerprint(key)
  WHERE node.tenant_id = $tenant_id AND node.key > ''
  RETURN collect(elementId(node)) AS ids
  UNION ALL
  MATCH (node:CompilerModel)
  USING INDEX SEEK node:CompilerModel(key)
  WHERE node.tenant_id = $tenant_id AND node.key > ''
  RETURN collect(elementId(node)) AS ids
  UNION ALL
  MATCH (node:PackReport)
  USING INDEX SEEK node:PackReport(key)
  WHERE node.tenant_id = $tenant_id AND node.key > ''
  RETURN collect(elementId(node)) AS ids
  UNION ALL
  MATCH (node:TaskRecord)
  USING INDEX SEEK node:TaskRecord(key)
  WHERE node.tenant_id = $tenant_id AND node.key > ''
  RETURN collect(elementId(node)) AS ids
  UNION ALL
  MATCH (node:Facet)
  USING INDEX SEEK node:Facet(key)
  WHERE node.tenant_id = $tenant_id AND node.key > ''
  RETURN collect(elementId(node)) AS ids
  UNION ALL
  MATCH (node:Task)
  USING INDEX SEEK node:Task(key)
  WHERE node.tenant_id = $tenant_id AND node.key > ''
  RETURN collect(elementId(node)) AS ids
  UNION ALL
  MATCH (node:Run)
  USING INDEX SEEK node:Run(key)
  WHERE node.tenant_id = $tenant_id AND node.key > ''
  RETURN collect(elementId(node)) AS ids
  UNION ALL
  MATCH (node:Dataset)
  USING INDEX SEEK node:Dataset(key)
  WHERE node.tenant_id = $tenant_id AND node.key > ''
  RETURN collect(elementId(node)) AS ids
  UNION ALL
  MATCH (node:Challenge)
  USING INDEX SEEK node:Challenge(key)
  WHERE node.tenant_id = $tenant_id AND node.key > ''
  RETURN collect(elementId(node)) AS ids
  UNION ALL
  MATCH (node:Contributor)
  USING INDEX SEEK node:Contributor(key)
  WHERE node.tenant_id = $tenant_id AND node.key > ''
  RETURN collect(elementId(node)) AS ids
  UNION ALL
  MATCH (node:UsageHour)
  USING INDEX SEEK node:UsageHour(key)
  WHERE node.tenant_id = $tenant_id AND node.key > ''
  RETURN collect(elementId(node)) AS ids
  UNION ALL
  MATCH (node:CompileRun)
  USING INDEX SEEK node:CompileRun(key)
  WHERE node.tenant_id = $tenant_id AND node.key > ''
  RETURN collect(elementId(node)) AS ids
  UNION ALL
  MATCH (node:State)
  USING INDEX SEEK node:State(key)
  WHERE node.tenant_id = $tenant_id AND node.key > ''
  RETURN collect(elementId(node)) AS ids
  UNION ALL
  MATCH (node:Tenant)
  USING INDEX SEEK node:Tenant(key)
  WHERE node.tenant_id = $tenant_id AND node.key > ''
  RETURN collect(elementId(node)) AS ids
}
RETURN reduce(all_ids = [], part IN collect(ids) | all_ids + part) AS ids
