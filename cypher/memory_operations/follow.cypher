// Make a memory the successor of another, as it was in the tenant of a backup. No row if it is that already, or if a
// cycle would close.
//
// Answers to one question (the same slot_key) are chained from their events: they are linked here only if neither has
// another link. Any other two were linked by hand, which the events do not show: other links into the older one and out
// of the newer one give way, because the chain of answers was made without this link. The two are locked by the caller.
//
// mode: write
// row:  memory_id
MATCH (newer:Memory {key: $new_key, tenant_id: $tenant_id})
MATCH (older:Memory {key: $old_key, tenant_id: $tenant_id})
WHERE newer.key <> older.key
  AND NOT EXISTS { (newer)-[:SUPERSEDES]->(older) }
  AND NOT EXISTS { (older)-[:SUPERSEDES*]->(newer) }
  AND (
    coalesce(newer.slot_key, newer.key) <> coalesce(older.slot_key, older.key)
    OR (newer.supersedes_key IS NULL AND NOT EXISTS { (:Memory)-[:SUPERSEDES]->(older) })
  )
CALL (newer) {
  MATCH (newer)-[link:SUPERSEDES]->(:Memory)
  DELETE link
}
CALL (older) {
  MATCH (other:Memory {tenant_id: $tenant_id})-[link:SUPERSEDES]->(older)
  SET other.supersedes_key = null
  DELETE link
}
CREATE (newer)-[:SUPERSEDES {tenant_id: $tenant_id}]->(older)
SET
  newer.supersedes_key = older.key,
  older.status = 'deprecated',
  older.valid_to_us = CASE WHEN older.valid_to_us < $at_us THEN older.valid_to_us ELSE $at_us END
RETURN newer.memory_id AS memory_id
