// A memory by its key, with the event that last stated it: one row, or none.
//
// mode: read
// row:  memory, event_ids, last_event
MATCH (memory:Memory {key: $key})
WHERE memory.tenant_id = $tenant_id
RETURN
  properties(memory) AS memory,
  COLLECT {
    MATCH (memory)-[:EVIDENCED_BY]->(event:Event)
    RETURN event.event_id
    ORDER BY event.time_us, event.event_id
  } AS event_ids,
  head(COLLECT {
    MATCH (memory)-[:EVIDENCED_BY]->(event:Event)
    WHERE event.erased IS NULL
    RETURN event {.label, .source}
    ORDER BY event.time_us DESC, event.event_id DESC
    LIMIT 1
  }) AS last_event
