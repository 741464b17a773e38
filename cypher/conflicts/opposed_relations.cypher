// Pairs of active relations of opposed types between the same two entities.
//
// Few relations have such types; with the hint, no others are read.
//
// mode: read
// row:  source, target, first_type, second_type, detected_us
UNWIND $pairs AS pair
MATCH (source:Entity)-[first:RELATES_TO]->(target:Entity)
USING INDEX SEEK first:RELATES_TO(tenant_id, relation_type)
WHERE first.tenant_id = $tenant_id AND source.tenant_id = $tenant_id
  AND first.relation_type = pair[0] AND first.status = 'active'
MATCH (source)-[second:RELATES_TO {relation_type: pair[1]}]->(target)
WHERE second.status = 'active'
RETURN
  source {.key, .name} AS source,
  target {.key, .name} AS target,
  first.relation_type AS first_type,
  second.relation_type AS second_type,
  CASE WHEN first.last_us > second.last_us THEN first.last_us ELSE second.last_us END AS detected_us
ORDER BY source.key, target.key, first_type, second_type
