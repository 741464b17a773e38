// Which tools raise which errors, and the fixes on record.
//
// The entity graph around error types, as a picture; each row follows the direction of its relation.
//
// Playbooks that the compiler made from recoveries are in failures_and_fixes.
//
// mode: read
// row:  source, relation, target
MATCH (:Entity {tenant_id: $tenant_id, type: 'error_type'})-[relation:RELATES_TO]-(:Entity {tenant_id: $tenant_id})
WHERE relation.status = 'active'
WITH DISTINCT relation
WITH startNode(relation) AS source, relation, endNode(relation) AS target
RETURN source, relation, target
ORDER BY target.key, relation.relation_type, source.key
