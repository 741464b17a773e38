// The newest events that mention an entity. A $mark names one of its relations, by type and the beginning of the
// target's key: only the events that are evidence for that relation are returned.
//
// mode: read
// row:  key
MATCH (entity:Entity {key: $key})<-[mention:MENTIONS]-(event:Event)
WHERE entity.tenant_id = $tenant_id AND ($mark IS NULL OR $mark IN mention.relations)
RETURN event.key AS key
ORDER BY event.time_us DESC, event.event_id
LIMIT $limit
