// Records that name a tool, by time.
//
// mode: schema
// row:  -
CREATE INDEX task_record_of_tool IF NOT EXISTS
FOR (n:TaskRecord) ON (n.tenant_id, n.tool_name, n.created_us)
