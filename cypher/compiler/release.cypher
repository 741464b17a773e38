// Take the content keys off artifacts that are about to leave draft and active, so that their successors, in whatever
// order they come, find them free. The artifacts are locked by artifacts/lock before.
//
// mode: write
// row:  released
MATCH (artifact:Artifact)
WHERE artifact.key IN $keys AND artifact.tenant_id = $tenant_id
SET artifact.dedup_key = null
RETURN count(*) AS released
