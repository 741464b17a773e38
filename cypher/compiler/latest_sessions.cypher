// The keys of a tenant's latest summarised sessions, by the time of their last event.
//
// Because ORDER BY lists every property of the index, the index is read backwards and only the rows returned are read.
//
// mode: read
// row:  session_key
MATCH (session:Session)
USING INDEX SEEK session:Session(tenant_id, summary_us, key)
WHERE session.tenant_id = $tenant_id
  AND session.summary_us IS NOT NULL
  AND session.key IS NOT NULL
  AND session.summary_version = $summary_version
WITH session
ORDER BY session.tenant_id DESC, session.summary_us DESC, session.key DESC
LIMIT $limit
RETURN session.key AS session_key
ORDER BY session_key
