// Memories by their keys, each with only the first events of its evidence: there may be a million.
//
// mode: read
// row:  record, event_keys, sessions, origins, superseded_by
MATCH (memory:Memory)
WHERE memory.key IN $keys AND memory.tenant_id = $tenant_id
RETURN
  properties(memory) AS record,
  COLLECT {
    MATCH (memory)-[:EVIDENCED_BY]->(event:Event)
    WHERE event.tenant_id = $tenant_id
    RETURN event.key
    ORDER BY event.time_us, event.sequence, event.event_id
    LIMIT $limit
  } AS event_keys,
  COUNT {
    MATCH (memory)-[:EVIDENCED_BY]->(event:Event)
    WHERE event.tenant_id = $tenant_id AND event.erased IS NULL
    RETURN DISTINCT event.session_key
  } AS sessions,
  COLLECT {
    MATCH (memory)-[link:EVIDENCED_BY]->(event:Event)
    WHERE event.tenant_id = $tenant_id AND event.erased IS NULL AND link.origin <> ''
    RETURN DISTINCT link.origin AS origin
    ORDER BY origin
    LIMIT $limit
  } AS origins,
  COLLECT {
    MATCH (memory)<-[:SUPERSEDES]-(successor:Memory)
    WHERE successor.tenant_id = $tenant_id
    RETURN successor.memory_id AS memory_id
    ORDER BY memory_id
    LIMIT $limit
  } AS superseded_by
ORDER BY memory.key
