// Records of a status by time.
//
// mode: schema
// row:  -
CREATE INDEX task_record_of_status IF NOT EXISTS
FOR (n:TaskRecord) ON (n.tenant_id, n.status, n.created_us)
