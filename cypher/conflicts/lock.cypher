// Lock a conflict's sides, entities before memories before artifacts, and then the conflict.
//
// A separate statement, so that the next one reads what was committed when the locks were granted. Setting tenant_id to
// the value that it has changes nothing.
//
// mode: write
// row:  conflict_id
MATCH (conflict:Conflict {key: $key})
WHERE conflict.tenant_id = $tenant_id
OPTIONAL MATCH (conflict)-[:BETWEEN]->(side)
WITH conflict, side, CASE WHEN side:Entity THEN 0 WHEN side:Memory THEN 1 ELSE 2 END AS place
ORDER BY place, side.key
SET side.tenant_id = $tenant_id
WITH conflict, count(side) AS sides
SET conflict.tenant_id = $tenant_id
RETURN conflict.conflict_id AS conflict_id
ORDER BY conflict_id
