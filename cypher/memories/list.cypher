// A page of memories, newest first; a criterion that is null excludes nothing. Blank memories are left out; proposals
// are returned only for the status tentative.
//
// As of a time: memories first observed by then that still held, and only observations made by then. *event_ids* are
// the first 100 of these; *last_event* is the one that last stated the memory.
//
// With tenant and time in ORDER BY, the index is read from its newest end, and only until the page is full.
//
// mode: read
// row:  memory, observations, event_ids, last_event
MATCH (memory:Memory)
USING INDEX SEEK memory:Memory(tenant_id, first_us)
WHERE memory.tenant_id = $tenant_id
  AND memory.first_us <= $until_us
  AND [-memory.first_us, memory.memory_id] > [coalesce(-$after_us, -9223372036854775807), coalesce($after_id, '')]
  AND memory.kind = coalesce($kind, memory.kind)
  AND memory.text <> ''
  AND (memory.proposed IS NULL OR $status = 'tentative')
  AND memory.status = coalesce($status, memory.status)
  AND coalesce(toLower(memory.subject) = toLower($subject), $subject IS NULL)
  AND coalesce(memory.valid_to_us > $as_of_us, true)
  AND coalesce(memory.expires_us > $as_of_us, true)
WITH memory
ORDER BY memory.tenant_id DESC, memory.first_us DESC, memory.memory_id
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
  } AS event_ids,
  head(COLLECT {
    MATCH (memory)-[:EVIDENCED_BY]->(event:Event)
    WHERE event.erased IS NULL AND ($as_of_us IS NULL OR event.time_us <= $as_of_us)
    RETURN event {.label, .source}
    ORDER BY event.time_us DESC, event.event_id DESC
    LIMIT 1
  }) AS last_event
ORDER BY memory.first_us DESC, memory.memory_id
