// A page of the sessions that changed since they were summarised, or were summarised by another version or profile, in
// the order of their changes.
//
// Changes after the compilation began wait for the next one. ORDER BY begins with every property of the index, so the
// index is read in order, and reading stops at the limit. Lists are compared because OR may be planned branch by
// branch, which loses the order: on some databases with little data it was. Sessions that only log an import are
// skipped: no agent worked in them.
//
// mode: read
// row:  session_key, event_count, version
MATCH (session:Session)
USING INDEX SEEK session:Session(tenant_id, changed_version)
WHERE session.tenant_id = $tenant_id
  AND $from_version <= session.changed_version <= $until_version
  AND [session.changed_version, session.key] > [$from_version, $after]
  AND NOT session.session_id STARTS WITH $logging_sessions
  AND [$full, session.summary IS NULL, coalesce(session.summarised_version, -1), coalesce(session.summary_version, '')]
    <> [false, false, session.changed_version, $summary_version]
WITH session
ORDER BY session.tenant_id, session.changed_version, session.key
LIMIT $limit
RETURN
  session.key AS session_key,
  session.event_count AS event_count,
  session.changed_version AS version
ORDER BY version, session_key
