// Lock the entities that a page of events and their task records mention, in key order like all writers, and before any
// memory: writers of events lock entities first, and would deadlock with an erasure that holds the memory they need
// next.
//
// mode: write
// row:  key
MATCH (event:Event)
WHERE event.key IN $batch.event_keys AND event.tenant_id = $tenant_id
CALL (event) {
  MATCH (event)-[:MENTIONS]->(entity:Entity)
  RETURN entity
  UNION
  MATCH (event)<-[:EVIDENCED_BY]-(:TaskRecord)-[:MENTIONS]->(entity:Entity)
  RETURN entity
}
WITH DISTINCT entity
ORDER BY entity.key
SET entity.tenant_id = $tenant_id
RETURN entity.key AS key
ORDER BY key
