// Events that were ahead of the clock and whose time has come, the earliest first, up to $limit.
//
// Only events ahead of the clock are in the index, so the rest of the tenant is not read.
//
// mode: read
// row:  event
MATCH (event:Event)
USING INDEX SEEK event:Event(tenant_id, ahead, time_us)
WHERE event.tenant_id = $tenant_id AND event.ahead = true AND event.time_us <= $latest_us
WITH event
ORDER BY event.time_us, event.key
LIMIT $limit
RETURN event {
  .hmx_version, .event_id, .event_type, .agent_id, .tenant_id, .session_id, .timestamp, .sequence, .content, .metadata,
  .trace_id, .correlation_id, .parent_event_id, .embeddings, .salience, .salience_origin, .source, .provenance_ref,
  .tags, .ttl_seconds
} AS event
ORDER BY event.time_us, event.key
