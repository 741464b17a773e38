// Memories by their keys, each with the events that it rests on.
//
// mode: read
// row:  record, event_keys
MATCH (memory:Memory)
WHERE memory.key IN $keys AND memory.tenant_id = $tenant_id
OPTIONAL MATCH (memory)-[:EVIDENCED_BY]->(event:Event)
WITH memory, event
ORDER BY event.key
WITH memory, collect(event.key) AS event_keys
RETURN properties(memory) AS record, event_keys
ORDER BY memory.key
