// Records of a session by time.
//
// mode: schema
// row:  -
CREATE INDEX task_record_in_session IF NOT EXISTS
FOR (n:TaskRecord) ON (n.tenant_id, n.session_id, n.created_us)
