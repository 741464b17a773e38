// Records whose id begins with these characters.
//
// Tables show the first eight characters of an id; this finds the rest, of at most twenty records.
//
// Conditions such as "is not null" let the planner use indexes that begin with the tenant. Tasks are found by their
// records. Events are by far the most numerous, so they are read only if nothing else has such an id.
//
// mode: read
// row:  id, kind
CALL () {
  MATCH (artifact:Artifact {tenant_id: $tenant_id})
  WHERE artifact.recorded_us IS NOT NULL AND artifact.artifact_id STARTS WITH $prefix
  RETURN artifact.artifact_id AS id, 'artifact' AS kind
  UNION
  MATCH (memory:Memory {tenant_id: $tenant_id})
  WHERE memory.first_us IS NOT NULL AND memory.memory_id STARTS WITH $prefix
  RETURN memory.memory_id AS id, 'memory' AS kind
  UNION
  MATCH (conflict:Conflict {tenant_id: $tenant_id})
  WHERE conflict.status IS NOT NULL AND conflict.conflict_id STARTS WITH $prefix
  RETURN conflict.conflict_id AS id, 'conflict' AS kind
  UNION
  MATCH (record:TaskRecord {tenant_id: $tenant_id})
  WHERE record.created_us IS NOT NULL AND record.artifact_id STARTS WITH $prefix
  RETURN record.artifact_id AS id, record.artifact_kind AS kind
  UNION
  MATCH (record:TaskRecord {tenant_id: $tenant_id})
  WHERE record.created_us IS NOT NULL AND record.task_id STARTS WITH $prefix
  RETURN record.task_id AS id, 'task' AS kind
  UNION
  MATCH (fingerprint:Fingerprint {tenant_id: $tenant_id})
  WHERE fingerprint.direction IS NOT NULL AND fingerprint.fingerprint_id STARTS WITH $prefix
  RETURN fingerprint.fingerprint_id AS id, 'fingerprint' AS kind
}
WITH id, kind
ORDER BY id, kind
LIMIT 20
WITH collect({id: id, kind: kind}) AS records
CALL (records) {
  UNWIND records AS record
  RETURN record.id AS id, record.kind AS kind
  UNION
  UNWIND CASE WHEN isEmpty(records) THEN [$prefix] ELSE [] END AS start
  MATCH (event:Event {tenant_id: $tenant_id})
  WHERE event.time_us IS NOT NULL AND event.event_id STARTS WITH start
  RETURN event.event_id AS id, event.event_type AS kind
}
RETURN id, kind
ORDER BY id, kind
LIMIT 20
