// Records that ask for an action, by time.
//
// mode: schema
// row:  -
CREATE INDEX task_record_of_request IF NOT EXISTS
FOR (n:TaskRecord) ON (n.tenant_id, n.requested_action, n.created_us)
