// One row with all that sessions tell of behaviour: how many, how many events, how long, and what was counted of each.
//
// Sessions that only log an import are nobody's work.
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
