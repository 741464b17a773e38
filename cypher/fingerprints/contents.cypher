// The contents of the artifacts in a fingerprint, and the private names in each one's evidence.
//
// Only names of entities whose type must not leave the tenant are returned, to be removed from the texts; types taken
// from data (order, user) are as private as ids.
//
// mode: read
// row:  artifact_id, content, names
MATCH (artifact:Artifact)
WHERE artifact.key IN $keys AND artifact.tenant_id = $tenant_id
CALL (artifact) {
  MATCH (artifact)-[:EVIDENCED_BY]->(:Event)-[:MENTIONS]->(entity:Entity)
  WHERE NOT entity.type IN $open_types AND entity.name <> ''
  WITH DISTINCT entity
  ORDER BY entity.key
  RETURN collect([entity.type, entity.name]) AS names
}
RETURN artifact.artifact_id AS artifact_id, artifact.content AS content, names
ORDER BY artifact_id
