// Find the latest summarised sessions. The next compile writes all summaries again, with the time of each.
//
// mode: schema
// row:  -
CREATE INDEX session_by_age IF NOT EXISTS
FOR (n:Session) ON (n.tenant_id, n.summary_us, n.key);
