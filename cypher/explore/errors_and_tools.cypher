// Which tools raise which errors, and what was told to fix them.
//
// The part of the entity graph round the error types, as a picture; each row reads in the direction of its relation.
// The playbooks that the compiler made of recoveries are in failures_and_fixes.
//
// mode: read
// row:  source, relation, target
MATCH (:Entity {tenant_id: $tenant_id, type: 'error_type'})-[relation:RELATES_TO]-(:Entity {tenant_id: $tenant_id})
WHERE relation.status = 'active'
WITH DISTINCT relation
WITH startNode(relation) AS source, relation, endNode(relation) AS target
RETURN source, relation, target
ORDER BY target.key, relation.relation_type, source.key
