// Delete the digests that may repeat what was erased: those of the records' tasks, of their projects and of the whole
// tenant, by key, and those that cite one of the records. They are composed again when next read.
//
// The tenant's node is locked by the caller. Every refresh of a digest locks it first, so a digest composed earlier is
// deleted here, and one composed later contains nothing erased.
//
// mode: write
// row:  -
MATCH (digest:TaskRecord)
WHERE digest.tenant_id = $tenant_id AND digest.artifact_kind = 'digest' AND digest.created_us IS NOT NULL
  AND (
    digest.digest_key IN $batch.digest_keys
    OR EXISTS { (digest)-[:RELATED_TO]->(source:TaskRecord) WHERE source.key IN $batch.record_keys AND source.tenant_id = $tenant_id }
  )
DETACH DELETE digest
