// The next visible events of one session in its order, after the one that the last page ended with.
//
// The index gives them in the order of their sequence from the right place on, so a page costs the same anywhere: for
// that the order names both of its properties.
// Lists are compared because alternatives told by OR may be looked up one by one, and the order is lost.
//
// mode: read
// row:  event
MATCH (event:Event)
USING INDEX SEEK event:Event(session_key, sequence)
WHERE event.session_key = $session_key
  AND event.tenant_id = $tenant_id
  AND event.erased IS NULL
  AND event.sequence >= $sequence
  AND [event.sequence, event.time_us, event.event_id] > [$sequence, $time_us, $event_id]
WITH event
ORDER BY event.session_key, event.sequence, event.time_us, event.event_id
LIMIT $limit
RETURN
  event {
    .event_id, .event_type, .agent_id, .session_id, .sequence, .time_us,
    .content, .source, .correlation_id, .parent_event_id
  } AS event
ORDER BY event.sequence, event.time_us, event.event_id
