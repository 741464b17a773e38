// Number of memories of each kind that are in force, and of those that are not.
//
// A condition on the kind lets the planner use the index of tenant and kind.
//
// mode: read
// row:  kind, active, deleted
MATCH (memory:Memory {tenant_id: $tenant_id})
WHERE memory.kind IS NOT NULL AND ($project_id IS NULL OR memory.project_id = $project_id)
WITH memory.kind AS kind, memory.status IN ['promoted', 'tentative'] AS holds
RETURN kind, sum(CASE WHEN holds THEN 1 ELSE 0 END) AS active, sum(CASE WHEN holds THEN 0 ELSE 1 END) AS deleted
ORDER BY kind
