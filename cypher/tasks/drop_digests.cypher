// Delete the digests that may tell what was erased: those of the records' tasks, projects and of everything, by their
// keys, and those that cite one of the records. They are composed anew when they are next asked for.
//
// The tenant's node is locked by the caller, as whoever refreshes a digest locks it first: what was composed before is
// deleted here, and what is composed later finds nothing to tell.
//
// mode: write
// row:  artifact_id
MATCH (digest:TaskRecord)
WHERE digest.tenant_id = $tenant_id AND digest.artifact_kind = 'digest' AND digest.created_us IS NOT NULL
  AND (
    digest.digest_key IN $batch.digest_keys
    OR EXISTS { (digest)-[:RELATED_TO]->(source:TaskRecord) WHERE source.key IN $batch.record_keys }
  )
WITH digest, digest.artifact_id AS artifact_id
DETACH DELETE digest
RETURN artifact_id
ORDER BY artifact_id
