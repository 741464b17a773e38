// Make a memory the successor of another; the unique supersedes_key makes a second successor impossible.
//
// Both are locked by the caller. The history of the older one is walked, so that no memory supersedes its own
// successor.
//
// mode: write
// row:  memory_id
MATCH (newer:Memory {key: $new_key, tenant_id: $tenant_id})
MATCH (older:Memory {key: $old_key, tenant_id: $tenant_id})
WHERE newer.supersedes_key IS NULL AND newer.key <> older.key
  AND NOT EXISTS { (older)-[:SUPERSEDES*]->(newer) }
MERGE (newer)-[:SUPERSEDES {tenant_id: $tenant_id}]->(older)
SET
  newer.supersedes_key = older.key,
  older.status = 'deprecated',
  older.valid_to_us = CASE WHEN older.valid_to_us < $at_us THEN older.valid_to_us ELSE $at_us END
RETURN newer.memory_id AS memory_id
