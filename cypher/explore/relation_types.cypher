// How kinds of entities are related.
//
// The 100 most frequent types of relation between two types of entities, each with the number of relations, their
// evidence, and the best supported one as an example.
//
// A condition on the type lets the planner use the index of tenant and type.
//
// mode: read
// row:  source_type, relation_type, target_type, relations, evidence, example
MATCH (source:Entity {tenant_id: $tenant_id})-[relation:RELATES_TO]->(target:Entity)
WHERE source.type IS NOT NULL AND relation.status = 'active' AND source.status = 'active' AND target.status = 'active'
WITH source, relation, target
ORDER BY relation.evidence_count DESC, source.key, target.key
WITH
  source.type AS source_type,
  relation.relation_type AS relation_type,
  target.type AS target_type,
  count(*) AS relations,
  sum(relation.evidence_count) AS evidence,
  head(collect(source.name + ' - ' + relation.relation_type + ' - ' + target.name)) AS example
RETURN source_type, relation_type, target_type, relations, evidence, example
ORDER BY relations DESC, source_type, relation_type, target_type
LIMIT 100
