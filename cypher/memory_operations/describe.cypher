// Store the project and tags that the caller gave to a memory.
//
// mode: write
// row:  -
MATCH (memory:Memory {key: $key, tenant_id: $tenant_id})
SET memory += $batch.properties
