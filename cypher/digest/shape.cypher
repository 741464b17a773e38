// The shape of the graph of active relations between active entities, in one row: counts by type, hubs, and links: for
// each entity and relation type, the entity's key followed by the keys to which these relations lead.
//
// One statement, because reading all relations is the main cost, and because counts and links then belong to the same
// moment. Weights are summed in whole millionths: a sum of fractions depends on the order in which relations are read.
// Hubs are the entities with the most connections; each end of a relation is one, so a relation of an entity to itself
// counts twice. A fingerprint carries the names of hubs out of the tenant: $types lists the entity types whose names
// may leave (null: all).
//
// The client computes max_depth: Community has no graph library, and breadth-first search in Cypher visits paths, not
// nodes. In links, the first 24 of a key's 64 hexadecimal digits identify an entity.
//
// mode: read
// row:  relations, hubs, links
MATCH (source:Entity {tenant_id: $tenant_id})-[relation:RELATES_TO]->(target:Entity {tenant_id: $tenant_id})
WHERE source.type IS NOT NULL
  AND source.status = 'active'
  AND target.status = 'active'
  AND relation.status = 'active'
  AND ($as_of_us IS NULL
    OR (relation.first_us <= $as_of_us AND source.first_us <= $as_of_us AND target.first_us <= $as_of_us))
WITH
  source,
  relation.relation_type AS relation_type,
  sum(toInteger(round(relation.weight * 1000000))) AS weight_millionths,
  collect(target) AS targets
WITH collect({
  source: source,
  relation_type: relation_type,
  weight_millionths: weight_millionths,
  targets: targets
}) AS parts
CALL (parts) {
  UNWIND parts AS part
  WITH
    part.relation_type AS relation_type,
    sum(size(part.targets)) AS relation_count,
    sum(part.weight_millionths) AS weight_millionths
  ORDER BY relation_type
  RETURN collect({
    relation_type: relation_type,
    relation_count: relation_count,
    weight_millionths: weight_millionths
  }) AS relations
}
CALL (parts) {
  CALL (parts) {
    UNWIND parts AS part
    RETURN part.source AS entity, size(part.targets) AS ends
  UNION ALL
    UNWIND parts AS part
    UNWIND part.targets AS entity
    RETURN entity, 1 AS ends
  }
  WITH entity, sum(ends) AS connection_count
  WHERE $types IS NULL OR entity.type IN $types
  WITH entity, connection_count
  ORDER BY connection_count DESC, entity.name, entity.type, entity.key
  LIMIT 10
  RETURN collect({name: entity.name, type: entity.type, connection_count: connection_count}) AS hubs
}
RETURN
  relations,
  hubs,
  [part IN parts | [left(part.source.key, 24)] + [target IN part.targets | left(target.key, 24)]] AS links
