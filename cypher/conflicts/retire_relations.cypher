// Deprecate the relations on the losing sides of a conflict; they stay in the graph.
//
// mode: write
// row:  -
UNWIND $relations AS loser
MATCH (source:Entity {key: loser.source_key})-[relation:RELATES_TO]->(target:Entity {key: loser.target_key})
WHERE source.tenant_id = $tenant_id
  AND target.tenant_id = $tenant_id
  AND relation.relation_type = loser.relation_type
SET relation.status = 'deprecated'
