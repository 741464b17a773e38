// A page of memories, newest first; what is null is not asked for.
//
// As of a time: what was first said by then and still held, with how often it had been said, and the first events
// that said so: no more than a reader of a page looks at.
//
// mode: read
// row:  memory, observations, event_ids
MATCH (memory:Memory {tenant_id: $tenant_id})
WHERE memory.kind IS NOT NULL
  AND memory.text <> ''
  AND ($kind IS NULL OR memory.kind = $kind)
  AND ($status IS NULL OR memory.status = $status)
  AND ($subject IS NULL OR toLower(memory.subject) = toLower($subject))
  AND ($as_of_us IS NULL OR (
    memory.first_us <= $as_of_us AND (memory.valid_to_us IS NULL OR memory.valid_to_us > $as_of_us)
  ))
  AND ($after_us IS NULL
    OR memory.first_us < $after_us
    OR (memory.first_us = $after_us AND memory.memory_id > $after_id))
WITH memory
ORDER BY memory.first_us DESC, memory.memory_id
LIMIT $limit
RETURN
  properties(memory) AS memory,
  COUNT {
    (memory)-[:EVIDENCED_BY]->(event:Event)
    WHERE event.erased IS NULL AND ($as_of_us IS NULL OR event.time_us <= $as_of_us)
  } AS observations,
  COLLECT {
    MATCH (memory)-[:EVIDENCED_BY]->(event:Event)
    WHERE event.erased IS NULL AND ($as_of_us IS NULL OR event.time_us <= $as_of_us)
    RETURN event.event_id
    ORDER BY event.time_us, event.event_id
    LIMIT 100
  } AS event_ids
ORDER BY memory.first_us DESC, memory.memory_id
