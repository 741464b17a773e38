// Take the write locks of artifacts in the order of their keys, before anything is read from them.
//
// A statement of its own: what the next one reads is what was committed when the lock came, never a value that the
// planner fetched before it waited. Writing the title back changes nothing: it is part of the core (HMX-A 1).
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
