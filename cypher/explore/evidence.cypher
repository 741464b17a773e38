// An artifact's evidence.
//
// The artifact, the memories it was derived from, and the events behind both, as a picture.
//
// The time of recording is named so that its index is used.
//
// mode: read
// row:  artifact, relation, source
MATCH (artifact:Artifact {tenant_id: $tenant_id, artifact_id: $artifact_id})
WHERE artifact.recorded_us IS NOT NULL
MATCH (artifact)-[relation:EVIDENCED_BY|DERIVED_FROM]->(source)
RETURN artifact, relation, source
ORDER BY type(relation), source.key
