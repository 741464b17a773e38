// Records of a relation to another by time.
//
// mode: schema
// row:  -
CREATE INDEX task_record_of_relation IF NOT EXISTS
FOR (n:TaskRecord) ON (n.tenant_id, n.relation_kind, n.created_us)
