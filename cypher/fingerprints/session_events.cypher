// Events that show behaviour, for the given sessions, each session in its total order (HMX-E 7).
//
// The condition on the sequence lets the planner use the index of session and sequence.
//
// mode: read
// row:  session_key, event_id, event_type, time_us, correlation_id, source, tags, content
MATCH (event:Event)
WHERE event.session_key IN $session_keys
  AND event.sequence IS NOT NULL
  AND event.tenant_id = $tenant_id
  AND event.event_type IN $event_types
  AND event.erased IS NULL
RETURN
  event.session_key AS session_key,
  event.event_id AS event_id,
  event.event_type AS event_type,
  event.time_us AS time_us,
  event.correlation_id AS correlation_id,
  event.source AS source,
  event.tags AS tags,
  event.content AS content
ORDER BY session_key, event.sequence, time_us, event_id
