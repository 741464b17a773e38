// Records of an agent by time: one that stopped long ago is found as fast as any other.
//
// mode: schema
// row:  -
CREATE INDEX task_record_of_agent IF NOT EXISTS
FOR (n:TaskRecord) ON (n.tenant_id, n.agent_id, n.created_us)
