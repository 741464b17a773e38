// The keys of the records linked to the given ones, at most $limit, the newest: their parents and replies.
//
// For $start_keys (starts of tasks with a hypothesis) also the evidence of the task and the replies to that evidence;
// for $testing_keys (evidence that tests a claim) also the start of the task.
//
// mode: read
// row:  key
MATCH (record:TaskRecord)
WHERE record.key IN $batch.keys AND record.tenant_id = $tenant_id
CALL (record) {
  MATCH (record)-[:REPLIES_TO]-(other:TaskRecord)
  RETURN other
  UNION
  WITH record
  WHERE record.key IN $batch.start_keys
  MATCH (record)-[:ON_TASK]->(:Task)<-[:ON_TASK]-(other:TaskRecord {artifact_kind: 'evidence'})
  RETURN other
  UNION
  WITH record
  WHERE record.key IN $batch.testing_keys
  MATCH (record)-[:ON_TASK]->(:Task)<-[:ON_TASK]-(other:TaskRecord {artifact_kind: 'task_start'})
  RETURN other
  UNION
  WITH record
  WHERE record.key IN $batch.start_keys
  MATCH (record)-[:ON_TASK]->(:Task)<-[:ON_TASK]-(:TaskRecord {artifact_kind: 'evidence'})<-[:REPLIES_TO]-(other:TaskRecord)
  RETURN other
}
WITH DISTINCT other
WHERE other.tenant_id = $tenant_id AND NOT other.key IN $batch.keys AND other.created_us IS NOT NULL
ORDER BY other.created_us DESC, other.key
LIMIT $limit
RETURN other.key AS key
ORDER BY key
