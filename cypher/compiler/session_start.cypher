// The first visible events of one session, in its order.
//
// Because ORDER BY lists both properties of the index, the index is read in order and only the rows returned are read.
//
// mode: read
// row:  event
MATCH (event:Event)
USING INDEX SEEK event:Event(session_key, sequence)
WHERE event.session_key = $session_key AND event.sequence IS NOT NULL
  AND event.tenant_id = $tenant_id
  AND event.erased IS NULL AND event.ahead IS NULL
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
