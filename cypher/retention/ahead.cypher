// The events of a tenant that are dated after an instant, the latest first, up to $limit.
//
// mode: read
// row:  event_id, session_id, timestamp, marked
MATCH (event:Event)
USING INDEX SEEK event:Event(tenant_id, time_us)
WHERE event.tenant_id = $tenant_id AND event.time_us > $latest_us AND event.erased IS NULL
WITH event
ORDER BY event.tenant_id DESC, event.time_us DESC, event.event_id
LIMIT $limit
RETURN
  event.event_id AS event_id,
  event.session_id AS session_id,
  event.timestamp AS timestamp,
  event.ahead IS NOT NULL AS marked
ORDER BY event.time_us DESC, event_id
