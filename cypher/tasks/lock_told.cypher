// Lock the tasks of the records that a page of events tells, in key order as everybody does, and name the records.
//
// A record says what its events say, so it is erased with the first of them.
//
// mode: write
// row:  key, artifact_id, artifact_kind, task_id, thread_id, reply_to_artifact_id, project_id, created_us
MATCH (event:Event)<-[:EVIDENCED_BY]-(record:TaskRecord)
WHERE event.key IN $batch.event_keys AND event.tenant_id = $tenant_id
WITH DISTINCT record
MATCH (record)-[:ON_TASK]->(task:Task)
WITH task, collect(record) AS records
ORDER BY task.key
SET task.tenant_id = $tenant_id
WITH records
UNWIND records AS record
WITH record
WHERE record.erased IS NULL
RETURN
  record.key AS key,
  record.artifact_id AS artifact_id,
  record.artifact_kind AS artifact_kind,
  record.task_id AS task_id,
  record.thread_id AS thread_id,
  record.reply_to_artifact_id AS reply_to_artifact_id,
  record.project_id AS project_id,
  record.created_us AS created_us
ORDER BY key
