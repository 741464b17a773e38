// The events of one session of the given types, in the session's total order; erased events have no content.
//
// Read through the index of the session's events; each event of another type costs a lookup.
//
// mode: read
// row:  event_type, content, metadata
MATCH (event:Event)
USING INDEX SEEK event:Event(session_key, sequence)
WHERE event.session_key = $session_key AND event.sequence IS NOT NULL AND event.tenant_id = $tenant_id
  AND event.event_type IN $event_types
RETURN event.event_type AS event_type, event.content AS content, event.metadata AS metadata
ORDER BY event.sequence, event.time_us, event.event_id
