// Lock the tasks of the records that a page of events reports, in key order like all writers, and return the records.
//
// A record repeats its events, so it is erased with the first of them.
//
// mode: write
// row:  document
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
RETURN record.document AS document
ORDER BY record.key
