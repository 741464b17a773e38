// Give the winning side the losing side's place in the chain of answers to a question (slot_key), if only the loser has
// a place.
//
// Returns one row in that case: the chain must be rebuilt, and everything that contradicts the loser now contradicts
// the winner. The sides are locked by conflicts/lock. Without the hint the planner reads all answers while there are
// few.
//
// mode: write
// row:  slot_key, kept, rivals
MATCH (kept:Memory {key: $kept_key})
WHERE kept.tenant_id = $tenant_id AND kept.slot_key IS NULL AND kept.answer IS NOT NULL
MATCH (lost:Memory)
USING INDEX SEEK lost:Memory(key)
WHERE lost.key IN $keys AND lost.tenant_id = $tenant_id AND lost.slot_key IS NOT NULL
WITH kept, lost, lost.slot_key AS slot_key
ORDER BY lost.key
LIMIT 1
WITH kept, lost, slot_key, COLLECT {
  MATCH (lost)<-[:BETWEEN]-(conflict:Conflict)-[:BETWEEN]->(rival:Memory)
  WHERE conflict.status = 'open' AND rival.key <> kept.key AND rival.key <> lost.key
  WITH rival, conflict
  ORDER BY rival.key
  RETURN rival {.key, .memory_id, .text, reason: conflict.reason}
} AS rivals
SET
  lost.slot_key = null,
  lost.head_key = null,
  lost.supersedes_key = null,
  kept.slot_key = slot_key
WITH kept, lost, slot_key, rivals
CALL (lost) {
  MATCH (lost)-[link:SUPERSEDES]-(:Memory)
  DELETE link
}
RETURN slot_key, kept {.key, .memory_id, .text} AS kept, rivals
ORDER BY slot_key
