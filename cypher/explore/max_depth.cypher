// Depth: the greatest distance in the largest group of connected entities (max_depth of HMX-F).
//
// Computed in the database alone, from the shortest path between every two entities: 10 seconds if the largest group
// has 284 of them, 83 seconds if it has 1,009. hmxgraph digest computes the same in less than 0.2 seconds. Paths of
// more than 100 relations are not followed.
//
// mode: read
// row:  max_depth, entities
MATCH (entity:Entity {tenant_id: $tenant_id, status: 'active'})
WHERE entity.type IS NOT NULL
CALL (entity) {
  MATCH (other:Entity {tenant_id: $tenant_id, status: 'active'})
  WHERE other.type IS NOT NULL AND other.key > entity.key
  MATCH path = shortestPath((entity)-[:RELATES_TO*..100]-(other))
  WHERE all(relation IN relationships(path) WHERE relation.status = 'active')
    AND all(node IN nodes(path) WHERE node.status = 'active')
  RETURN other.key AS key, length(path) AS distance
}
// The smallest key that leads to an entity identifies its group.
WITH key, min(entity.key) AS group_key, max(distance) AS distance
WITH group_key, count(key) + 1 AS entities, max(distance) AS max_depth
RETURN max_depth, entities
ORDER BY entities DESC, max_depth DESC, group_key
LIMIT 1
