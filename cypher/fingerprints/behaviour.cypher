// The behaviour of sessions, in one row: the number of sessions and of their events, the sum of their durations, and
// each session's counts.
//
// Sessions that only log an import are skipped: no agent worked in them.
//
// mode: read
// row:  sessions, session_events, session_us, counted
MATCH (session:Session {tenant_id: $tenant_id})
WHERE session.changed_version IS NOT NULL AND NOT session.session_id STARTS WITH $logging_sessions
RETURN
  count(*) AS sessions,
  sum(session.event_count) AS session_events,
  sum(session.last_us - session.first_us) AS session_us,
  collect(session.behaviour) AS counted
