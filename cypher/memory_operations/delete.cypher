// Mark memories as deleted; their nodes stay, so that records derived from them can still be explained.
//
// mode: write
// row:  memory_id
MATCH (memory:Memory)
WHERE memory.key IN $batch.keys AND memory.tenant_id = $tenant_id AND memory.deleted_us IS NULL
SET
  memory.deleted_us = $at_us,
  memory.delete_reason = $reason,
  memory.status = 'deprecated',
  memory.valid_to_us = CASE WHEN memory.valid_to_us < $at_us THEN memory.valid_to_us ELSE $at_us END
RETURN memory.memory_id AS memory_id
ORDER BY memory_id
