// Sessions that changed since they were summarised, or were summarised by another version or profile; a page at a time
// in the order of their keys.
//
// Sessions that only log an import are nobody's work.
//
// mode: read
// row:  session_key, event_count, version
MATCH (session:Session {tenant_id: $tenant_id})
WHERE session.changed_version IS NOT NULL
  AND session.key > $after
  AND NOT session.session_id STARTS WITH $logging_sessions
  AND ($full
    OR session.summary IS NULL
    OR session.summarised_version <> session.changed_version
    OR session.summary_version <> $summary_version)
RETURN
  session.key AS session_key,
  session.event_count AS event_count,
  session.changed_version AS version
ORDER BY session_key
LIMIT $limit
