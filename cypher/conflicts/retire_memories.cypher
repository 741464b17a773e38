// Mark the memories on the losing sides of a conflict as contradicted; their history stays.
//
// mode: write
// row:  -
MATCH (memory:Memory)
WHERE memory.key IN $keys AND memory.tenant_id = $tenant_id
WITH memory
ORDER BY memory.key
SET
  memory.status = 'contradicted',
  memory.valid_to_us = CASE WHEN $at_us > memory.valid_from_us THEN $at_us ELSE memory.valid_from_us END
