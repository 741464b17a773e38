// Memories that hold by their status but whose time is over.
//
// The kind is named for its index.
//
// mode: read
// row:  memory_id, valid_to_us
MATCH (memory:Memory {tenant_id: $tenant_id})
WHERE memory.kind IS NOT NULL AND memory.status IN ['promoted', 'tentative'] AND memory.valid_to_us <= $at_us
  AND ($project_id IS NULL OR memory.project_id = $project_id)
RETURN memory.memory_id AS memory_id, memory.valid_to_us AS valid_to_us
ORDER BY valid_to_us, memory_id
LIMIT 1000
