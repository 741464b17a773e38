// Split stored answers that another answer interrupts ("in Rome", "in Oslo", "in Rome"): the observations on one side
// of the interruption become a separate memory.
//
// Both parts give up their positions in the chain of answers: memories/record, which follows, rebuilds it. The memories
// were locked by events/open.
//
// mode: write
// row:  -
UNWIND $batch.parts AS row
MATCH (origin:Memory {key: row.origin_key})
WHERE origin.tenant_id = $tenant_id
SET
  origin.head_key = null,
  origin.supersedes_key = null,
  origin.first_us = row.rest[0],
  origin.last_us = row.rest[1]
WITH origin, row
ORDER BY row.key
MERGE (part:Memory {key: row.key})
SET part = origin {
  .*,
  key: row.key,
  tenant_id: $tenant_id,
  memory_id: row.memory_id,
  first_us: row.times[0],
  last_us: row.times[1]
}
WITH origin, part, row
CALL (origin, part, row) {
  MATCH (origin)-[link:EVIDENCED_BY]->(event:Event)
  WHERE event.key IN row.event_keys AND event.tenant_id = $tenant_id
  CREATE (part)-[:EVIDENCED_BY {tenant_id: $tenant_id}]->(event)
  DELETE link
}
CALL (origin, part) {
  MATCH (origin)-[mention:MENTIONS]->(entity:Entity)
  MERGE (part)-[copy:MENTIONS]->(entity)
    ON CREATE SET copy.tenant_id = $tenant_id, copy.count = mention.count
}
SET
  origin.observation_count = COUNT { (origin)-[:EVIDENCED_BY]->(live:Event) WHERE live.erased IS NULL },
  part.observation_count = COUNT { (part)-[:EVIDENCED_BY]->(live:Event) WHERE live.erased IS NULL }
