// The tenant's active entities. The type is named so that its index is used.
//
// mode: read
// row:  key, name, type, confidence
MATCH (entity:Entity {tenant_id: $tenant_id})
WHERE entity.type IS NOT NULL AND entity.status = 'active'
RETURN entity.key AS key, entity.name AS name, entity.type AS type, entity.confidence AS confidence
ORDER BY key
