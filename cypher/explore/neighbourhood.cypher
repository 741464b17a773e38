// An entity's neighbourhood.
//
// Everything within one relation of the entities of this name, as a picture.
//
// mode: read
// row:  entity, relation, other
MATCH (entity:Entity {tenant_id: $tenant_id, normalised: toLower($name)})
MATCH (entity)-[relation:RELATES_TO]-(other:Entity {tenant_id: $tenant_id})
WHERE relation.status = 'active'
RETURN entity, relation, other
ORDER BY entity.key, relation.weight DESC, other.key, relation.relation_type
LIMIT 100
