// Records of a tenant by kind and time: the digests among all records.
//
// mode: schema
// row:  -
CREATE INDEX task_record_of_kind IF NOT EXISTS
FOR (n:TaskRecord) ON (n.tenant_id, n.artifact_kind, n.created_us)
