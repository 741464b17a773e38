// Create an artifact for each row, with links to its stored events and memories: the first of a chain, or a draft that
// is only proposed as a successor.
//
// Evidence that is not stored yet is linked when it arrives (events/settle), so that erasure reaches the artifact.
//
// If another writer created the same one since the caller read, the uniqueness constraints on key and dedup_key reject
// it and the caller reads again.
//
// mode: write
// row:  -
UNWIND $artifacts AS row
CREATE (artifact:Artifact)
SET artifact = row.properties
SET artifact.tenant_id = $tenant_id
WITH artifact, row
CALL (artifact, row) {
  MATCH (event:Event)
  WHERE event.key IN row.evidence_keys AND event.tenant_id = $tenant_id
  CREATE (artifact)-[:EVIDENCED_BY {tenant_id: $tenant_id, session_key: event.session_key}]->(event)
}
CALL (artifact, row) {
  UNWIND row.evidence_keys AS key
  WITH artifact, key
  WHERE NOT EXISTS { (:Event {key: key, tenant_id: $tenant_id}) }
  MERGE (awaited:Awaited {key: key})
    ON CREATE SET awaited.tenant_id = $tenant_id
  CREATE (artifact)-[:AWAITS {tenant_id: $tenant_id, link: 'EVIDENCED_BY'}]->(awaited)
}
CALL (artifact, row) {
  MATCH (memory:Memory)
  WHERE memory.key IN row.memory_keys AND memory.tenant_id = $tenant_id
  CREATE (artifact)-[:DERIVED_FROM {tenant_id: $tenant_id}]->(memory)
}
