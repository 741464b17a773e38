// Sessions, the latest first.
//
// Every session with its span, number of events and outcome. Start here.
//
// A condition on the version lets the planner use the index of tenant and version; a session without stored events has
// no version.
//
// mode: read
// row:  session_id, first, last, events, outcome
MATCH (session:Session {tenant_id: $tenant_id})
WHERE session.changed_version IS NOT NULL
RETURN
  session.session_id AS session_id,
  toString(datetime({epochMillis: session.first_us / 1000})) AS first,
  toString(datetime({epochMillis: session.last_us / 1000})) AS last,
  session.event_count AS events,
  session.outcome AS outcome
ORDER BY session.last_us DESC, session_id
