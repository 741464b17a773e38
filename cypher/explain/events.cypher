// Events by their keys, in order of time.
//
// mode: read
// row:  event_id, session_id, agent_id, event_type, timestamp, text, erased, source
MATCH (event:Event)
WHERE event.key IN $keys AND event.tenant_id = $tenant_id
RETURN
  event.event_id AS event_id,
  event.session_id AS session_id,
  event.agent_id AS agent_id,
  event.event_type AS event_type,
  event.timestamp AS timestamp,
  event.text AS text,
  coalesce(event.erased, false) AS erased,
  coalesce(event.source, '') AS source
ORDER BY event.time_us, event.sequence, event.event_id
