// Deprecate the relations on the losing sides of a conflict; they stay in the graph.
//
// mode: write
// row:  -
UNWIND $relations AS lost
MATCH (source:Entity {key: lost.source_key})-[relation:RELATES_TO]->(target:Entity {key: lost.target_key})
WHERE source.tenant_id = $tenant_id
  AND target.tenant_id = $tenant_id
  AND relation.relation_type = lost.relation_type
SET relation.status = 'deprecated'
