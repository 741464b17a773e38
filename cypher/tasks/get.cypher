// A task with its runs and its parent task: one row, or none if there is no such task.
//
// mode: read
// row:  task, runs, parent_task_id
MATCH (task:Task {key: $task_key, tenant_id: $tenant_id})
OPTIONAL MATCH (run:Run)-[:PART_OF]->(task)
WITH task, collect(properties(run)) AS runs
OPTIONAL MATCH (task)-[:PART_OF]->(parent:Task)
RETURN properties(task) AS task, runs, parent.task_id AS parent_task_id
