// A page of the summaries of a tenant's sessions, in key order.
//
// With tenant and key in the order, the index is read in order and a page costs what it returns.
//
// mode: read
// row:  session_key, summary
MATCH (session:Session)
USING INDEX SEEK session:Session(tenant_id, key)
WHERE session.tenant_id = $tenant_id
  AND session.key > $after
  AND session.changed_version IS NOT NULL
  AND session.summary IS NOT NULL
  AND session.summary_version = $summary_version
WITH session
ORDER BY session.tenant_id, session.key
LIMIT $limit
RETURN session.key AS session_key, session.summary AS summary
ORDER BY session.key
