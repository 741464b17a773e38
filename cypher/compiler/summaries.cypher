// The summaries of a tenant's sessions, a page at a time in the order of their keys.
//
// mode: read
// row:  session_key, summary
MATCH (session:Session {tenant_id: $tenant_id})
WHERE session.changed_version IS NOT NULL
  AND session.key > $after
  AND session.summary IS NOT NULL
  AND session.summary_version = $summary_version
RETURN session.key AS session_key, session.summary AS summary
ORDER BY session_key
LIMIT $limit
