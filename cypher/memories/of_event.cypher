// The memories that one event is evidence for, each with the ids of all its evidence.
//
// mode: read
// row:  memory, event_ids
MATCH (memory:Memory {tenant_id: $tenant_id})-[:EVIDENCED_BY]->(:Event {key: $event_key})
RETURN
  properties(memory) AS memory,
  COLLECT {
    MATCH (memory)-[:EVIDENCED_BY]->(event:Event)
    RETURN event.event_id
    ORDER BY event.time_us, event.event_id
  } AS event_ids
ORDER BY memory.key
