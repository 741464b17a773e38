// A page of conflicts with their sides.
//
// mode: read
// row:  conflict, sides
MATCH (conflict:Conflict)
WHERE conflict.key IN $keys AND conflict.tenant_id = $tenant_id
RETURN
  properties(conflict) AS conflict,
  [(conflict)-[:BETWEEN]->(side) |
    {side_id: coalesce(side.artifact_id, side.memory_id, side.key), status: side.status, label: labels(side)[0]}] AS sides
ORDER BY conflict.key
