// A page of memories: their counters, the actual numbers of live evidence events, and the neighbours in their chains.
//
// mode: read
// row:  memory, live, older, newer
MATCH (memory:Memory)
WHERE memory.key IN $keys AND memory.tenant_id = $tenant_id
RETURN
  memory {.key, .memory_id, .observation_count, .supersedes_key} AS memory,
  COUNT { (memory)-[:EVIDENCED_BY]->(event:Event) WHERE event.erased IS NULL } AS live,
  [(memory)-[:SUPERSEDES]->(old:Memory) | old.key] AS older,
  [(newer:Memory)-[:SUPERSEDES]->(memory) | newer.key] AS newer
ORDER BY memory.key
