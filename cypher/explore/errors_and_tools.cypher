// Which tools raise which errors, and what fixes them.
//
// The part of the entity graph round the error types, as a picture.
//
// mode: read
// row:  error, relation, other
MATCH (error:Entity {tenant_id: $tenant_id, type: 'error_type'})-[relation:RELATES_TO]-(other:Entity {tenant_id: $tenant_id})
WHERE relation.status = 'active'
RETURN error, relation, other
ORDER BY error.key, relation.relation_type, other.key
