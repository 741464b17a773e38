// A memory by its key: one row, or none.
//
// mode: read
// row:  memory, event_ids
MATCH (memory:Memory {key: $key})
WHERE memory.tenant_id = $tenant_id
RETURN
  properties(memory) AS memory,
  COLLECT {
    MATCH (memory)-[:EVIDENCED_BY]->(event:Event)
    RETURN event.event_id
    ORDER BY event.time_us, event.event_id
  } AS event_ids
