// The summaries of these sessions.
//
// mode: read
// row:  summary
MATCH (session:Session)
USING INDEX SEEK session:Session(key)
WHERE session.key IN $session_keys
  AND session.tenant_id = $tenant_id
  AND session.changed_version IS NOT NULL
  AND session.summary IS NOT NULL
  AND session.summary_version = $summary_version
RETURN session.summary AS summary
ORDER BY session.key
