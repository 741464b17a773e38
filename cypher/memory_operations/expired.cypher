// Memories that have ended or expired although their status says that they are in force, the earliest first, at most
// 1,000.
//
// A condition on the kind lets the planner use the index of tenant and kind.
//
// mode: read
// row:  memory_id
MATCH (memory:Memory {tenant_id: $tenant_id})
WHERE memory.kind IS NOT NULL AND memory.status IN ['promoted', 'tentative']
  AND (memory.valid_to_us <= $at_us OR memory.expires_us <= $at_us)
  AND ($project_id IS NULL OR memory.project_id = $project_id)
WITH
  memory.memory_id AS memory_id,
  CASE
    WHEN coalesce(memory.expires_us, memory.valid_to_us) < coalesce(memory.valid_to_us, memory.expires_us)
      THEN memory.expires_us
    ELSE coalesce(memory.valid_to_us, memory.expires_us)
  END AS expired_us
RETURN memory_id
ORDER BY expired_us, memory_id
LIMIT 1000
