// One session's story.
//
// What happened, in the session's total order, one line per event.
//
// Sessions are indexed by the first 200 characters of their ids.
//
// mode: read
// row:  sequence, timestamp, event_type, speaker, text
MATCH (session:Session {tenant_id: $tenant_id, id_start: left($session_id, 200)})
USING INDEX SEEK session:Session(tenant_id, id_start)
WHERE session.session_id = $session_id
MATCH (session)<-[:IN_SESSION]-(event:Event {tenant_id: $tenant_id})
RETURN
  event.sequence AS sequence,
  event.timestamp AS timestamp,
  event.event_type AS event_type,
  event.speaker AS speaker,
  left(event.text, 200) AS text
ORDER BY sequence, event.time_us, event.event_id
