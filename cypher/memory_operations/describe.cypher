// Keep what the caller said about a memory besides its words: project and tags.
//
// mode: write
// row:  memory_id
MATCH (memory:Memory {key: $key, tenant_id: $tenant_id})
SET memory += $batch.properties
RETURN memory.memory_id AS memory_id
