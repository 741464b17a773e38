// The tenant's active relations between active entities. A condition on the type lets the planner use the index of
// tenant and type.
//
// mode: read
// row:  source_key, target_key, relation_type, weight, confidence
MATCH (source:Entity {tenant_id: $tenant_id})-[relation:RELATES_TO]->(target:Entity {tenant_id: $tenant_id})
WHERE source.type IS NOT NULL AND relation.status = 'active' AND source.status = 'active' AND target.status = 'active'
RETURN
  source.key AS source_key,
  target.key AS target_key,
  relation.relation_type AS relation_type,
  relation.weight AS weight,
  relation.confidence AS confidence
ORDER BY source_key, target_key, relation_type
