// Trust in a thread: who replied to whom, and how.
//
// The records of a thread with their replies, as a picture.
//
// A condition on the time lets the planner use the index of tenant, thread and time.
//
// mode: read
// row:  record, relation, parent
MATCH (record:TaskRecord {tenant_id: $tenant_id, thread_id: $thread_id})
WHERE record.created_us IS NOT NULL
OPTIONAL MATCH (record)-[relation:REPLIES_TO]->(parent:TaskRecord)
RETURN record, relation, parent
ORDER BY record.key, parent.key
