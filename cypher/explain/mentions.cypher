// The newest events that mention an entity; only those that are evidence for one relation, where a mark names it.
//
// mode: read
// row:  key
MATCH (entity:Entity {key: $key})<-[mention:MENTIONS]-(event:Event)
WHERE entity.tenant_id = $tenant_id AND ($mark IS NULL OR $mark IN mention.relations)
RETURN event.key AS key
ORDER BY event.time_us DESC, event.event_id
LIMIT $limit
