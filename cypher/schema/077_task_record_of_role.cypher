// Records of a role by time.
//
// mode: schema
// row:  -
CREATE INDEX task_record_of_role IF NOT EXISTS
FOR (n:TaskRecord) ON (n.tenant_id, n.artifact_role, n.created_us)
