// The latest event of each session whose id starts with a prefix, as of a time.
//
// As events/latest. Session ids have no length limit; the index holds their first 200 characters.
//
// mode: read
// row:  session_id, event_type, timestamp, content, metadata, touched
MATCH (session:Session {tenant_id: $tenant_id})
USING INDEX SEEK session:Session(tenant_id, id_start)
WHERE session.id_start STARTS WITH left($prefix, 200) AND session.session_id STARTS WITH $prefix
CALL (session) {
  MATCH (event:Event)
  USING INDEX SEEK event:Event(session_key, sequence)
  WHERE event.session_key = session.key AND event.sequence IS NOT NULL AND event.tenant_id = $tenant_id
    AND ($as_of_us IS NULL OR event.time_us <= $as_of_us)
  WITH event
  ORDER BY event.session_key DESC, event.sequence DESC, event.time_us DESC, event.event_id DESC
  LIMIT 1
  RETURN event.timestamp AS touched
}
CALL (session) {
  MATCH (event:Event)
  USING INDEX SEEK event:Event(session_key, sequence)
  WHERE event.session_key = session.key AND event.sequence IS NOT NULL AND event.tenant_id = $tenant_id
    AND ($as_of_us IS NULL OR event.time_us <= $as_of_us)
    AND NOT event.event_type IN $passing
  WITH event
  ORDER BY event.session_key DESC, event.sequence DESC, event.time_us DESC, event.event_id DESC
  LIMIT 1
  RETURN event
}
RETURN
  event.session_id AS session_id,
  event.event_type AS event_type,
  event.timestamp AS timestamp,
  event.content AS content,
  event.metadata AS metadata,
  touched
ORDER BY session_id
