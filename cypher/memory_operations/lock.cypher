// Take the write locks of memories in the order of their keys, before anything is read from them.
//
// mode: write
// row:  memory
MATCH (memory:Memory)
WHERE memory.key IN $batch.keys AND memory.tenant_id = $tenant_id
WITH memory
ORDER BY memory.key
SET memory.tenant_id = $tenant_id
RETURN properties(memory) AS memory
ORDER BY memory.key
