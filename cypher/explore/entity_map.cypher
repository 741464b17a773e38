// The entity graph.
//
// The 150 strongest active relations between entities, as a picture.
//
// A condition on the type lets the planner use the index of tenant and type.
//
// mode: read
// row:  entity, relation, other
MATCH (entity:Entity {tenant_id: $tenant_id})-[relation:RELATES_TO]->(other:Entity {tenant_id: $tenant_id})
WHERE entity.type IS NOT NULL AND relation.status = 'active'
RETURN entity, relation, other
ORDER BY relation.weight DESC, entity.key, relation.relation_type, other.key
LIMIT 150
