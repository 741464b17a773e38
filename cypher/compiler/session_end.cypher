// The last visible events of one session after a position, in its order.
//
// Because ORDER BY lists both properties of the index, the index is read backwards and only the rows returned are read,
// however long the session is. Lists are compared because OR would be planned branch by branch, which loses the order.
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
ORDER BY event.session_key DESC, event.sequence DESC, event.time_us DESC, event.event_id DESC
LIMIT $limit
RETURN
  event {
    .event_id, .event_type, .agent_id, .session_id, .sequence, .time_us,
    .content, .source, .correlation_id, .parent_event_id,
    metadata: CASE WHEN event.metadata CONTAINS '"origin"' THEN event.metadata END
  } AS event
ORDER BY event.sequence, event.time_us, event.event_id
