// Take the write lock of a task, then tell how it and its runs stand: one row, or none where there is no such task.
//
// All steps of one task queue up here, so that a step is judged by what the step before it left behind. The runs are
// read after the lock; what is written back changes nothing. A task that is not there yet is locked as well: in a
// statement that writes, looking for the unique key takes the lock of its place in the index until the commit.
//
// mode: write
// row:  task, runs
MATCH (task:Task {key: $task_key})
SET task.tenant_id = $tenant_id
WITH task
OPTIONAL MATCH (run:Run)-[:PART_OF]->(task)
RETURN properties(task) AS task, collect(run {.run_id, .status, .started_us, .tool_name}) AS runs
