// Lock artifacts in key order, before anything is read from them.
//
// A separate statement, so that the next one reads what was committed when the lock was granted, never a value fetched
// before the wait. Writing the title back changes nothing: it is immutable (HMX-A 1).
//
// mode: write
// row:  artifact_id
MATCH (artifact:Artifact)
WHERE artifact.key IN $keys AND artifact.tenant_id = $tenant_id
WITH artifact
ORDER BY artifact.key
SET artifact.title = artifact.title
RETURN artifact.artifact_id AS artifact_id
ORDER BY artifact_id
