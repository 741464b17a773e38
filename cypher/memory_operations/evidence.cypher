// The newest events that are evidence for a memory, the newest first, at most $limit.
//
// mode: read
// row:  event_id
MATCH (:Memory {key: $key, tenant_id: $tenant_id})-[:EVIDENCED_BY]->(event:Event)
WHERE event.tenant_id = $tenant_id
RETURN event.event_id AS event_id
ORDER BY event.time_us DESC, event_id DESC
LIMIT $limit
