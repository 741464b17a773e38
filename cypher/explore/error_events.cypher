// Errors as they happened.
//
// Every error event with its session, latest first.
//
// A condition on the time lets the planner use its index.
//
// mode: read
// row:  event_id, timestamp, session_id, text
MATCH (event:Event {tenant_id: $tenant_id, event_type: 'error'})
WHERE event.time_us IS NOT NULL
RETURN
  event.event_id AS event_id,
  event.timestamp AS timestamp,
  event.session_id AS session_id,
  event.text AS text
ORDER BY event.time_us DESC, event.event_id
