// Memories in force with the same kind and text (capitals and outer blanks aside), largest groups first.
//
// A condition on the kind lets the planner use the index of tenant and kind.
//
// mode: read
// row:  kind, text, memory_ids
MATCH (memory:Memory {tenant_id: $tenant_id})
WHERE memory.kind IS NOT NULL AND memory.status IN ['promoted', 'tentative']
  AND ($project_id IS NULL OR memory.project_id = $project_id)
WITH memory
ORDER BY memory.memory_id
WITH memory.kind AS kind, toLower(trim(memory.text)) AS text, collect(memory.memory_id) AS memory_ids
WHERE size(memory_ids) > 1
RETURN kind, text, memory_ids
ORDER BY size(memory_ids) DESC, kind, text
