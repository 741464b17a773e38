// The board: tasks of shared work, the last changed first.
//
// Every task with its status, project and goal, who holds it until when, and how many records it has.
//
// A condition on the time lets the planner use the index of tenant and time.
//
// mode: read
// row:  task_id, status, project_id, goal, assignee, lease_until, records, updated
MATCH (task:Task {tenant_id: $tenant_id})
WHERE task.updated_us IS NOT NULL AND task.status IS NOT NULL
RETURN
  task.task_id AS task_id,
  task.status AS status,
  task.project_id AS project_id,
  task.goal AS goal,
  task.assignee AS assignee,
  CASE
    WHEN task.lease_until_us IS NOT NULL THEN toString(datetime({epochMillis: task.lease_until_us / 1000}))
  END AS lease_until,
  task.record_count AS records,
  toString(datetime({epochMillis: task.updated_us / 1000})) AS updated
ORDER BY task.updated_us DESC, task_id
