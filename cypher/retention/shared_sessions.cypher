// Those of the given sessions in which an event does not name the user to be erased: an answer, a tool call, another
// user's words. Memories do not count: their sessions contain what was remembered for anybody.
//
// mode: read
// row:  session_id
UNWIND $batch.session_keys AS session_key
CALL (session_key) {
  MATCH (event:Event)
  USING INDEX SEEK event:Event(session_key, sequence)
  WHERE event.session_key = session_key
    AND event.sequence IS NOT NULL
    AND event.tenant_id = $tenant_id
    AND event.erased IS NULL
    AND event.event_type <> 'x-hmxgraph-memory'
    AND NOT any(words IN $naming WHERE toLower(event.metadata) CONTAINS words)
  WITH event
  ORDER BY event.session_key, event.sequence, event.key
  LIMIT 1
  RETURN event.session_id AS session_id
}
RETURN session_id
ORDER BY session_id
