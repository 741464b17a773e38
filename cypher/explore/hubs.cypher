// Hubs: the best connected entities.
//
// The twenty-five entities with the most active relations.
//
// A condition on the type lets the planner use the index of tenant and type.
//
// mode: read
// row:  name, type, relations, mentions
MATCH (entity:Entity {tenant_id: $tenant_id, status: 'active'})-[relation:RELATES_TO]-()
WHERE entity.type IS NOT NULL AND relation.status = 'active'
WITH entity, count(relation) AS relations
RETURN entity.name AS name, entity.type AS type, relations, entity.mention_count AS mentions
ORDER BY relations DESC, entity.key
LIMIT 25
