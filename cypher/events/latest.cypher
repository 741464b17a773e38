// The latest event of each named session, as of a time. Events of the types in $passing are not returned as the latest;
// they only count for the time at which the session was last touched.
//
// An erased event still counts as the latest, without content: erasure must not bring back what it had replaced. ORDER
// BY lists the index's properties in descending order, so each search ends at its first row.
//
// mode: read
// row:  session_id, event_type, timestamp, content, metadata, touched
UNWIND $session_keys AS session_key
CALL (session_key) {
  MATCH (event:Event)
  USING INDEX SEEK event:Event(session_key, sequence)
  WHERE event.session_key = session_key AND event.sequence IS NOT NULL AND event.tenant_id = $tenant_id
    AND ($as_of_us IS NULL OR event.time_us <= $as_of_us)
  WITH event
  ORDER BY event.session_key DESC, event.sequence DESC, event.time_us DESC, event.event_id DESC
  LIMIT 1
  RETURN event.timestamp AS touched
}
CALL (session_key) {
  MATCH (event:Event)
  USING INDEX SEEK event:Event(session_key, sequence)
  WHERE event.session_key = session_key AND event.sequence IS NOT NULL AND event.tenant_id = $tenant_id
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
