// Replies to a record by time.
//
// mode: schema
// row:  -
CREATE INDEX task_record_in_reply IF NOT EXISTS
FOR (n:TaskRecord) ON (n.tenant_id, n.reply_to_artifact_id, n.created_us)
