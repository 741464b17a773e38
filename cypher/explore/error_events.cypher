// Errors and failed results as they happened.
//
// Every error event, and every other event that says that it failed, with its session, latest first.
//
// A failed result is left out if an error event names it or its call as the cause. A condition on the time lets the
// planner use the index of tenant and time.
//
// mode: read
// row:  event_id, timestamp, session_id, text
MATCH (event:Event {tenant_id: $tenant_id})
WHERE event.time_us IS NOT NULL
  AND event.failed
  AND event.erased IS NULL
  AND (event.event_type = 'error' OR NOT EXISTS {
    MATCH (event)-[:ANSWERS*0..1]->(:Event)<-[:CAUSED_BY|CORRELATES_WITH]-(error:Event {event_type: 'error'})
    WHERE error.erased IS NULL
  })
RETURN
  event.event_id AS event_id,
  event.timestamp AS timestamp,
  event.session_id AS session_id,
  event.text AS text
ORDER BY event.time_us DESC, event.event_id
