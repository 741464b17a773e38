// Remove the dedup_key of artifacts that are about to leave draft and active, so that successors can be written in any
// order. The artifacts are locked by artifacts/lock.
//
// mode: write
// row:  -
MATCH (artifact:Artifact)
WHERE artifact.key IN $keys AND artifact.tenant_id = $tenant_id
SET artifact.dedup_key = null
