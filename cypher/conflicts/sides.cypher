// Conflicts by key, newest first, each with the records on its sides.
//
// mode: read
// row:  conflict, sides
MATCH (conflict:Conflict)
WHERE conflict.key IN $keys AND conflict.tenant_id = $tenant_id
OPTIONAL MATCH (conflict)-[:BETWEEN]->(side)
WITH conflict, side
ORDER BY side.key
WITH conflict, collect({
  key: side.key,
  label: labels(side)[0],
  side_id: coalesce(side.artifact_id, side.memory_id, side.name),
  text: coalesce(side.text, side.name),
  status: side.status,
  status_times: side.status_times,
  status_values: side.status_values,
  confidence: side.confidence
}) AS sides
RETURN properties(conflict) AS conflict, sides
ORDER BY conflict.detected_us DESC, conflict.conflict_id
