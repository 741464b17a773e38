// An artifact's evidence.
//
// The artifact, the events that support it and the memories that it was derived from, as a picture.
//
// A condition on the time of recording lets the planner use the index of tenant and time of recording.
//
// mode: read
// row:  artifact, relation, source
MATCH (artifact:Artifact {tenant_id: $tenant_id, artifact_id: $artifact_id})
WHERE artifact.recorded_us IS NOT NULL
MATCH (artifact)-[relation:EVIDENCED_BY|DERIVED_FROM]->(source)
RETURN artifact, relation, source
ORDER BY type(relation), source.key
