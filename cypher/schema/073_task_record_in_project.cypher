// Records of a project by time: an old project is found without reading what came after it.
//
// mode: schema
// row:  -
CREATE INDEX task_record_in_project IF NOT EXISTS
FOR (n:TaskRecord) ON (n.tenant_id, n.project_id, n.created_us)
