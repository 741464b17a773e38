// One session's story.
//
// What happened, in the session's total order, one line per event.
//
// The session's version is named so that its index is used.
//
// mode: read
// row:  sequence, timestamp, event_type, speaker, text
MATCH (session:Session {tenant_id: $tenant_id, session_id: $session_id})
WHERE session.changed_version IS NOT NULL
MATCH (session)<-[:IN_SESSION]-(event:Event {tenant_id: $tenant_id})
RETURN
  event.sequence AS sequence,
  event.timestamp AS timestamp,
  event.event_type AS event_type,
  event.speaker AS speaker,
  left(event.text, 200) AS text
ORDER BY sequence, event.time_us, event.event_id
