// An import that is not withdrawn, with the artifacts that it seeded: at most one row. $reference is the id of the
// import, or of the fingerprint; of several imports of a fingerprint, the latest is returned.
//
// *others* counts an artifact's other evidence: events with content that do not log a withdrawn import.
//
// mode: read
// row:  key, import_id, fingerprint_id, event_key, seeded
MATCH (fingerprint:Fingerprint {tenant_id: $tenant_id})
WHERE fingerprint.direction = 'imported'
  AND $reference IN [fingerprint.import_id, fingerprint.fingerprint_id]
  AND fingerprint.taken_back_us IS NULL
OPTIONAL MATCH (fingerprint)-[:EVIDENCED_BY]->(event:Event)
WITH fingerprint, event
ORDER BY fingerprint.generation DESC, fingerprint.key
LIMIT 1
OPTIONAL MATCH (fingerprint)-[:SEEDED]->(artifact:Artifact)
WITH fingerprint, event, artifact
ORDER BY artifact.key
RETURN
  fingerprint.key AS key,
  fingerprint.import_id AS import_id,
  fingerprint.fingerprint_id AS fingerprint_id,
  event.key AS event_key,
  collect({
    key: artifact.key,
    artifact_id: artifact.artifact_id,
    status: artifact.status,
    others: COUNT {
      (artifact)-[:EVIDENCED_BY]->(other:Event)
      WHERE other.key <> event.key
        AND other.erased IS NULL
        AND NOT EXISTS { (other)<-[:EVIDENCED_BY]-(withdrawn:Fingerprint) WHERE withdrawn.taken_back_us IS NOT NULL }
    }
  }) AS seeded
ORDER BY key
