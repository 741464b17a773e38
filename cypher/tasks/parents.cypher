// For tasks that are part of themselves, the number of steps from each through its parents back to itself.
//
// The search visits each task once, however many paths lead to it, and ends after 1,000 steps.
//
// mode: read
// row:  key, steps
UNWIND $batch.task_keys AS key
MATCH (task:Task {key: key, tenant_id: $tenant_id})
CALL (task) {
  MATCH (task)-[:PART_OF]->(parent:Task)
  WHERE parent <> task
  MATCH path = shortestPath((parent)-[:PART_OF*..1000]->(task))
  RETURN length(path) + 1 AS steps
  ORDER BY steps
  LIMIT 1
}
RETURN key, steps
ORDER BY key
