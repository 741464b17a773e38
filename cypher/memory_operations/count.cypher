// Add to the counts of how often memories were useful and useless.
//
// mode: write
// row:  -
MATCH (memory:Memory)
WHERE memory.key IN $batch.keys AND memory.tenant_id = $tenant_id
SET
  memory.useful = coalesce(memory.useful, 0) + $useful,
  memory.useless = coalesce(memory.useless, 0) + $useless
