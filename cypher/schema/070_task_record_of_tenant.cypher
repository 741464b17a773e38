// Records of a tenant by time: the newest that answer to given filters.
//
// mode: schema
// row:  -
CREATE INDEX task_record_of_tenant IF NOT EXISTS
FOR (n:TaskRecord) ON (n.tenant_id, n.created_us)
