// A relation between two entities, by the beginnings of their keys: at most one row.
//
// mode: read
// row:  source, target, relation
MATCH (source:Entity)-[relation:RELATES_TO]->(target:Entity)
WHERE source.key STARTS WITH $source_begin
  AND source.tenant_id = $tenant_id
  AND target.key STARTS WITH $target_begin
  AND relation.relation_type = $relation_type
WITH source, target, relation
ORDER BY relation.first_us, source.key, target.key
LIMIT 1
RETURN source {.key, .name} AS source, target {.key, .name} AS target, properties(relation) AS relation
