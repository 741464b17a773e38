// Number of steps from a task through its parents back to itself: no row if it is not part of itself.
//
// The search visits each task once, however many paths lead to it, and ends after 1,000 steps.
//
// mode: read
// row:  steps
MATCH (task:Task {key: $task_key, tenant_id: $tenant_id})-[:PART_OF]->(parent:Task)
WHERE parent <> task
MATCH path = shortestPath((parent)-[:PART_OF*..1000]->(task))
RETURN length(path) + 1 AS steps
ORDER BY steps
LIMIT 1
