// For each event, the memory that it is evidence for, with the ids of all events behind that memory, and of the memory
// that it supersedes. If an event supports several memories, the one with the lowest key is returned.
//
// mode: read
// row:  event_key, memory, event_ids, supersedes
UNWIND $event_keys AS event_key
MATCH (event:Event {key: event_key, tenant_id: $tenant_id})<-[:EVIDENCED_BY]-(memory:Memory)
WHERE memory.tenant_id = $tenant_id
WITH event_key, memory
ORDER BY memory.key
WITH event_key, head(collect(memory)) AS memory
RETURN
  event_key,
  properties(memory) AS memory,
  COLLECT {
    MATCH (memory)-[:EVIDENCED_BY]->(event:Event)
    RETURN event.event_id
    ORDER BY event.time_us, event.event_id
  } AS event_ids,
  head(COLLECT {
    MATCH (memory)-[:SUPERSEDES]->(older:Memory)
    RETURN older.memory_id
  }) AS supersedes
ORDER BY event_key
