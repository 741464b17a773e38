// Lock tasks in key order, then return each and its runs; no row for a task that does not exist.
//
// All steps of one task wait for each other here, so each step is checked against the result of the previous one. The
// runs are read after the lock. A task that does not exist yet is locked as well: in a statement that writes, the
// lookup of its unique key locks that entry of the index until the commit.
//
// mode: write
// row:  task, runs
UNWIND $batch.task_keys AS key
MATCH (task:Task {key: key, tenant_id: $tenant_id})
SET task.tenant_id = $tenant_id
WITH task
OPTIONAL MATCH (run:Run)-[:PART_OF]->(task)
WITH task, collect(run {.run_id, .status, .started_us, .tool_name}) AS runs
RETURN properties(task) AS task, runs
ORDER BY task.key
