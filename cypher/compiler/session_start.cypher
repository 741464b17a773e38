// The next visible events of one session in its order, after the last one of the page before.
//
// The order names both properties of the index, so that it is read in order from the right place and every page costs
// the same. Lists are compared because OR would be planned branch by branch, which loses the order.
//
// mode: read
// row:  event
MATCH (event:Event)
USING INDEX SEEK event:Event(session_key, sequence)
WHERE event.session_key = $session_key
  AND event.tenant_id = $tenant_id
  AND event.erased IS NULL AND event.ahead IS NULL
  AND event.sequence >= $sequence
  AND [event.sequence, event.time_us, event.event_id] > [$sequence, $time_us, $event_id]
WITH event
ORDER BY event.session_key, event.sequence, event.time_us, event.event_id
LIMIT $limit
RETURN
  event {
    .event_id, .event_type, .agent_id, .session_id, .sequence, .time_us,
    .content, .source, .correlation_id, .parent_event_id,
    metadata: CASE WHEN event.metadata CONTAINS '"origin"' THEN event.metadata END
  } AS event
ORDER BY event.sequence, event.time_us, event.event_id
