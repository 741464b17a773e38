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
MATCH (loser:Memory)
USING INDEX SEEK loser:Memory(key)
WHERE loser.key IN $keys AND loser.tenant_id = $tenant_id AND loser.slot_key IS NOT NULL
WITH kept, loser, loser.slot_key AS slot_key
ORDER BY loser.key
LIMIT 1
WITH kept, loser, slot_key, COLLECT {
  MATCH (loser)<-[:BETWEEN]-(conflict:Conflict)-[:BETWEEN]->(rival:Memory)
  WHERE conflict.status = 'open' AND rival.key <> kept.key AND rival.key <> loser.key
  WITH rival, conflict
  ORDER BY rival.key
  RETURN rival {.key, .memory_id, .text, reason: conflict.reason}
} AS rivals
SET
  loser.slot_key = null,
  loser.head_key = null,
  loser.supersedes_key = null,
  kept.slot_key = slot_key
WITH kept, loser, slot_key, rivals
CALL (loser) {
  MATCH (loser)-[link:SUPERSEDES]-(:Memory)
  DELETE link
}
RETURN slot_key, kept {.key, .memory_id, .text} AS kept, rivals
ORDER BY slot_key
