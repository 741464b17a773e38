// The type of each artifact, by id; keys without an artifact are left out.
//
// mode: read
// row:  artifact_id, artifact_type
UNWIND $keys AS key
MATCH (artifact:Artifact {key: key})
WHERE artifact.tenant_id = $tenant_id
RETURN artifact.artifact_id AS artifact_id, artifact.artifact_type AS artifact_type
ORDER BY artifact_id
