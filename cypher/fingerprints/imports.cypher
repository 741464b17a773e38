// The imports of one envelope, oldest first, with their outcomes.
//
// An import also counts as withdrawn if the event that logs it was erased.
//
// mode: read
// row:  key, import_id, generation, taken_back, artifact_ids, conflict_ids
MATCH (fingerprint:Fingerprint {tenant_id: $tenant_id})
WHERE fingerprint.direction = 'imported' AND fingerprint.integrity_hash = $integrity_hash
OPTIONAL MATCH (fingerprint)-[:EVIDENCED_BY]->(event:Event)
RETURN
  fingerprint.key AS key,
  fingerprint.import_id AS import_id,
  fingerprint.generation AS generation,
  fingerprint.taken_back_us IS NOT NULL OR event IS NULL OR coalesce(event.erased, false) AS taken_back,
  fingerprint.artifact_ids AS artifact_ids,
  fingerprint.conflict_ids AS conflict_ids
ORDER BY generation, key
