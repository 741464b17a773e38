// Pairs of active relations of opposed types between the same two entities.
//
// The hint starts at the tenant's entities; without it the planner reads the relations of all tenants.
//
// mode: read
// row:  source, target, first_type, second_type, confidence, detected_us
MATCH (source:Entity)
USING INDEX SEEK source:Entity(tenant_id, type)
WHERE source.tenant_id = $tenant_id AND source.type IS NOT NULL
MATCH (source)-[first:RELATES_TO]->(target:Entity)
WHERE first.status = 'active'
MATCH (source)-[second:RELATES_TO]->(target)
WHERE second.status = 'active' AND [first.relation_type, second.relation_type] IN $pairs
RETURN
  source {.key, .name, .type} AS source,
  target {.key, .name, .type} AS target,
  first.relation_type AS first_type,
  second.relation_type AS second_type,
  [first.confidence, second.confidence] AS confidence,
  CASE WHEN first.last_us > second.last_us THEN first.last_us ELSE second.last_us END AS detected_us
ORDER BY source.key, target.key, first_type, second_type
