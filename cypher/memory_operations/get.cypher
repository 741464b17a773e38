// A semantic memory: one row with its successor, its predecessor, its first 100 events as evidence, the event that last
// stated it, and up to 20 task records with the same events as evidence.
//
// mode: read
// row:  memory, superseded_by, supersedes, event_ids, last_event, record_keys
MATCH (memory:Memory {key: $key, tenant_id: $tenant_id})
OPTIONAL MATCH (successor:Memory)-[:SUPERSEDES]->(memory)
OPTIONAL MATCH (memory)-[:SUPERSEDES]->(old:Memory)
RETURN
  properties(memory) AS memory,
  successor.memory_id AS superseded_by,
  old.memory_id AS supersedes,
  COLLECT {
    MATCH (memory)-[:EVIDENCED_BY]->(event:Event)
    RETURN event.event_id AS event_id ORDER BY event.time_us, event_id LIMIT 100
  } AS event_ids,
  head(COLLECT {
    MATCH (memory)-[:EVIDENCED_BY]->(event:Event)
    WHERE event.erased IS NULL
    RETURN event {.label, .source}
    ORDER BY event.time_us DESC, event.event_id DESC
    LIMIT 1
  }) AS last_event,
  COLLECT {
    MATCH (memory)-[:EVIDENCED_BY]->(:Event)<-[:EVIDENCED_BY]-(record:TaskRecord)
    RETURN DISTINCT record.key AS key ORDER BY key LIMIT 20
  } AS record_keys
