// Make a memory the successor of another, as it was in the tenant of a backup. No row if it is its successor already,
// or if a cycle would close.
//
// If both answer the same question (slot_key), their chain was already rebuilt from the events: they are linked only if
// the newer one supersedes nothing and nothing supersedes the older one. Any other two were linked by hand in that
// tenant. The events do not show such a link, and the rebuilt chain may contradict it, so the newer one's link to a
// predecessor and the older one's link from a successor are removed first. The caller locks both.
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
