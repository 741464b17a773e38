// The memories that one event is evidence for.
//
// mode: read
// row:  key, memory_id, text
MATCH (memory:Memory {tenant_id: $tenant_id})-[:EVIDENCED_BY]->(:Event {key: $event_key})
RETURN memory.key AS key, memory.memory_id AS memory_id, memory.text AS text
ORDER BY key
