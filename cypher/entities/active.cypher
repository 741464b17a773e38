// The tenant's active entities. A condition on the type lets the planner use the index of tenant and type.
//
// mode: read
// row:  key, name, type, confidence
MATCH (entity:Entity {tenant_id: $tenant_id})
WHERE entity.type IS NOT NULL AND entity.status = 'active'
RETURN entity.key AS key, entity.name AS name, entity.type AS type, entity.confidence AS confidence
ORDER BY key
