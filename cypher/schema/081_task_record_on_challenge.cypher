// Records on a challenge by time.
//
// mode: schema
// row:  -
CREATE INDEX task_record_on_challenge IF NOT EXISTS
FOR (n:TaskRecord) ON (n.tenant_id, n.challenge_id, n.created_us)
