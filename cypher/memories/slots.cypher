// The stored answers to the questions of a batch, oldest first, locked until the commit.
//
// Setting the property that it has takes the lock without changing anything, and without reading it first
// (entities/record); the keys come in order. An answer that was taken out of what holds by hand, or that lost a
// conflict, keeps its place in the chain but is never told again: told again, it is a new memory.
//
// What took the place of an answer by hand, without answering the same question, stays in its place, and so does an answer
// that took the place of something else: those links are no part of the chain and are not drawn anew with it.
//
// Where another answer is told now amid the tellings of a stored one, these come too: it may have to be parted.
//
// mode: write
// row:  slot_key, key, memory_id, text, answer, first_us, last_us, said_by, hard, tellings, replaced, in_place_of
MATCH (memory:Memory)
WHERE memory.slot_key IN $batch.slot_keys AND memory.tenant_id = $tenant_id
WITH memory
ORDER BY memory.key
SET memory.tenant_id = $tenant_id
WITH
  memory,
  coalesce(memory.retired, false)
    OR memory.status = 'contradicted'
    OR (memory.status = 'deprecated' AND memory.head_key IS NOT NULL) AS retired
RETURN
  memory.slot_key AS slot_key,
  memory.key AS key,
  memory.memory_id AS memory_id,
  memory.text AS text,
  CASE WHEN retired THEN memory.answer + ' (retired)' ELSE memory.answer END AS answer,
  memory.first_us AS first_us,
  memory.last_us AS last_us,
  coalesce(memory.said_by, '') AS said_by,
  coalesce(memory.hard, false) AND memory.extraction_method = 'remembered' AS hard,
  COLLECT {
    MATCH (memory)-[:EVIDENCED_BY]->(event:Event)
    WHERE NOT retired AND any(told IN $batch.told[memory.slot_key]
      WHERE memory.first_us < told[0] AND told[0] < memory.last_us AND told[1] <> memory.answer)
    WITH DISTINCT event
    ORDER BY event.time_us, event.key
    RETURN [event.time_us, event.key]
  } AS tellings,
  EXISTS {
    MATCH (successor:Memory)-[:SUPERSEDES]->(memory)
    WHERE coalesce(successor.slot_key, '') <> memory.slot_key
  } AS replaced,
  head(COLLECT {
    MATCH (memory)-[:SUPERSEDES]->(other:Memory)
    WHERE coalesce(other.slot_key, '') <> memory.slot_key
    RETURN other.key
  }) AS in_place_of
ORDER BY slot_key, first_us, key
