// One artifact by its key: at most one row.
//
// mode: read
// row:  artifact
MATCH (artifact:Artifact {key: $key})
WHERE artifact.tenant_id = $tenant_id
RETURN properties(artifact) AS artifact
