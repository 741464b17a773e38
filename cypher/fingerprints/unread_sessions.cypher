// Sessions that changed since their behaviour was counted, a page at a time in the order of their keys.
//
// mode: read
// row:  session_key, event_count, version
MATCH (session:Session {tenant_id: $tenant_id})
WHERE session.changed_version IS NOT NULL
  AND session.key > $after
  AND (session.behaviour_version IS NULL OR session.behaviour_version <> session.changed_version)
RETURN
  session.key AS session_key,
  session.event_count AS event_count,
  session.changed_version AS version
ORDER BY session_key
LIMIT $limit
