// Records of a thread by time.
//
// mode: schema
// row:  -
CREATE INDEX task_record_in_thread IF NOT EXISTS
FOR (n:TaskRecord) ON (n.tenant_id, n.thread_id, n.created_us)
