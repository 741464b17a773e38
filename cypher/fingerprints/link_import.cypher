// Link an import to the event that logs it, and to the drafts that it created or that an earlier import had created.
//
// The event is the drafts' evidence: forgetting it removes them. Runs last, when the event is stored; the artifacts are
// locked already.
//
// mode: write
// row:  -
MATCH (fingerprint:Fingerprint {key: $fingerprint_key, tenant_id: $tenant_id})
MATCH (event:Event {key: $event_key, tenant_id: $tenant_id})
CREATE (fingerprint)-[:EVIDENCED_BY {tenant_id: $tenant_id}]->(event)
WITH fingerprint, event
CALL (fingerprint, event) {
  MATCH (artifact:Artifact)
  WHERE artifact.key IN $artifact_keys AND artifact.tenant_id = $tenant_id
  CREATE (fingerprint)-[:SEEDED {tenant_id: $tenant_id}]->(artifact)
  CREATE (artifact)-[:EVIDENCED_BY {tenant_id: $tenant_id, session_key: event.session_key}]->(event)
}
