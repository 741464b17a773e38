// Records of a task by time.
//
// mode: schema
// row:  -
CREATE INDEX task_record_on_task IF NOT EXISTS
FOR (n:TaskRecord) ON (n.tenant_id, n.task_id, n.created_us)
