// Records of a verification status by time.
//
// mode: schema
// row:  -
CREATE INDEX task_record_of_verdict IF NOT EXISTS
FOR (n:TaskRecord) ON (n.tenant_id, n.verification_status, n.created_us)
