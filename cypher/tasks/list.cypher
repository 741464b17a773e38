// Tasks, filtered by project, status and assignee if these are given, the last changed first. A claim whose lease is
// over by $at_us no longer counts.
//
// A condition on the time lets the planner use the index of tenant and time; a task that is only named as a parent has
// no time.
//
// mode: read
// row:  task
MATCH (task:Task)
WHERE task.tenant_id = $tenant_id AND task.updated_us IS NOT NULL AND task.status IS NOT NULL
  AND ($chosen.project_id IS NULL OR task.project_id = $chosen.project_id)
  AND ($chosen.status IS NULL OR toLower(task.status) = toLower($chosen.status))
  AND (
    $chosen.assignee IS NULL
    OR (task.assignee_key = $chosen.assignee AND (task.lease_until_us IS NULL OR task.lease_until_us > $at_us))
  )
WITH task
ORDER BY task.tenant_id DESC, task.updated_us DESC, task.task_id
LIMIT $limit
RETURN properties(task) AS task
ORDER BY task.updated_us DESC, task.task_id
