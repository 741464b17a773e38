// Raise the tenant's version, stamp what a batch wrote with it, and make the links to events outside the batch.
//
// The last statement of an ingest transaction, and the tenant is locked first (as in tenants/bump): writers take turns
// until the commit, so if two events in different sessions refer to each other, the later writer always sees the
// earlier one. For a missing event, an Awaited node is created under the event's future key; the batch that brings the
// event makes the link. *awaited* has the keys of the events of this batch that stored events name as their cause.
// Because writers take turns here, the tenant's first embedding fixes the dimension of all its embeddings in this
// statement.
//
// mode: write
// row:  awaited, embedding_dimension
MERGE (tenant:Tenant {key: $tenant_key})
  ON CREATE SET
    tenant.tenant_id = $tenant_id,
    tenant.state_version = 0,
    tenant.logical_us = coalesce($batch.logical_us, 0),
    tenant.event_count = 0,
    tenant.compiled_version = 0
SET
  tenant.state_version = tenant.state_version + 1,
  tenant.event_count = tenant.event_count + size($batch.event_keys),
  tenant.logical_us = CASE
    WHEN $batch.logical_us > tenant.logical_us THEN $batch.logical_us
    ELSE tenant.logical_us
  END
WITH tenant, tenant.state_version AS version
CALL (tenant) {
  WITH tenant
  WHERE size($batch.signatures) > 0
  SET tenant.signatures = coalesce(tenant.signatures, []) + $batch.signatures
}
CALL (tenant) {
  WITH tenant
  WHERE tenant.embedding_dimension IS NULL AND $batch.embedding_dimension IS NOT NULL
  SET tenant.embedding_dimension = $batch.embedding_dimension
}
CALL (version) {
  MATCH (session:Session)
  USING INDEX SEEK session:Session(key)
  WHERE session.key IN $batch.session_keys AND session.tenant_id = $tenant_id
  SET session.changed_version = version
}
CALL (version) {
  MATCH (event:Event)
  WHERE event.key IN $batch.event_keys AND event.tenant_id = $tenant_id
  SET event.recorded_version = version
}
CALL () {
  UNWIND $batch.caused_by AS pair
  MATCH (event:Event {key: pair[0], tenant_id: $tenant_id})
  MATCH (cause:Event {key: pair[1], tenant_id: $tenant_id})
  CREATE (event)-[:CAUSED_BY {tenant_id: $tenant_id}]->(cause)
}
CALL () {
  UNWIND $batch.correlates_with AS pair
  MATCH (event:Event {key: pair[0], tenant_id: $tenant_id})
  MATCH (other:Event {key: pair[1], tenant_id: $tenant_id})
  CREATE (event)-[:CORRELATES_WITH {tenant_id: $tenant_id}]->(other)
}
CALL () {
  UNWIND $batch.about AS pair
  MATCH (feedback:Event {key: pair[0], tenant_id: $tenant_id})
  MATCH (target:Event {key: pair[1], tenant_id: $tenant_id})
  CREATE (feedback)-[:ABOUT {tenant_id: $tenant_id}]->(target)
}
CALL () {
  UNWIND $batch.answers AS pair
  MATCH (result:Event {key: pair[0], tenant_id: $tenant_id})
  CALL (result, pair) {
    MATCH (call:Event {call_key: pair[1], tenant_id: $tenant_id})
    RETURN call
    ORDER BY call.sequence > result.sequence, abs(call.sequence - result.sequence), call.event_id
    LIMIT 1
  }
  CREATE (result)-[:ANSWERS {tenant_id: $tenant_id}]->(call)
}
CALL () {
  UNWIND $batch.caused_by + $batch.correlates_with + $batch.about + $batch.answers AS pair
  MATCH (event:Event {key: pair[0], tenant_id: $tenant_id})
  WHERE NOT EXISTS { (:Event {key: pair[1], tenant_id: $tenant_id}) }
    AND NOT EXISTS { (:Event {call_key: pair[1], tenant_id: $tenant_id}) }
  MERGE (awaited:Awaited {key: pair[1]})
    ON CREATE SET awaited.tenant_id = $tenant_id
  CREATE (event)-[:AWAITS {tenant_id: $tenant_id, link: pair[2]}]->(awaited)
}
CALL () {
  MATCH (awaited:Awaited)
  WHERE awaited.key IN [pair IN $batch.offers | pair[0]] AND awaited.tenant_id = $tenant_id
  UNWIND [pair IN $batch.offers WHERE pair[0] = awaited.key] AS pair
  MATCH (awaited)<-[waits:AWAITS]-(event)
  MATCH (arrived:Event {key: pair[1], tenant_id: $tenant_id})
  FOREACH (_ IN CASE WHEN waits.link = 'CAUSED_BY' THEN [1] ELSE [] END |
    CREATE (event)-[:CAUSED_BY {tenant_id: $tenant_id}]->(arrived))
  FOREACH (_ IN CASE WHEN waits.link = 'CORRELATES_WITH' THEN [1] ELSE [] END |
    CREATE (event)-[:CORRELATES_WITH {tenant_id: $tenant_id}]->(arrived))
  FOREACH (_ IN CASE WHEN waits.link = 'ABOUT' THEN [1] ELSE [] END |
    CREATE (event)-[:ABOUT {tenant_id: $tenant_id}]->(arrived))
  FOREACH (_ IN CASE WHEN waits.link = 'ANSWERS' THEN [1] ELSE [] END |
    CREATE (event)-[:ANSWERS {tenant_id: $tenant_id}]->(arrived))
  FOREACH (_ IN CASE WHEN waits.link = 'EVIDENCED_BY' THEN [1] ELSE [] END |
    CREATE (event)-[:EVIDENCED_BY {tenant_id: $tenant_id, session_key: arrived.session_key}]->(arrived))
  WITH awaited, CASE waits.link WHEN 'CAUSED_BY' THEN pair[1] END AS cause
  DETACH DELETE awaited
  RETURN collect(DISTINCT cause) AS causes
}
RETURN causes AS awaited, tenant.embedding_dimension AS embedding_dimension
