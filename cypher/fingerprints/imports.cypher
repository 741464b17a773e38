// The imports of one envelope, oldest first, with their outcomes.
//
// An import also counts as withdrawn if the event that logs it was erased.
//
// mode: read
// row:  import_id, withdrawn, artifact_ids, conflict_ids
MATCH (fingerprint:Fingerprint {tenant_id: $tenant_id})
WHERE fingerprint.direction = 'imported' AND fingerprint.integrity_hash = $integrity_hash
OPTIONAL MATCH (fingerprint)-[:EVIDENCED_BY]->(event:Event)
RETURN
  fingerprint.import_id AS import_id,
  fingerprint.taken_back_us IS NOT NULL OR event IS NULL OR coalesce(event.erased, false) AS withdrawn,
  fingerprint.artifact_ids AS artifact_ids,
  fingerprint.conflict_ids AS conflict_ids
ORDER BY fingerprint.generation, fingerprint.key
