// The contents of the artifacts that a fingerprint tells of, and the private names in the evidence for each.
//
// Only names of entities whose type may not be told, so that they can be taken out of the texts.
//
// mode: read
// row:  artifact_id, content, names
MATCH (artifact:Artifact)
WHERE artifact.key IN $keys AND artifact.tenant_id = $tenant_id
CALL (artifact) {
  MATCH (artifact)-[:EVIDENCED_BY]->(:Event)-[:MENTIONS]->(entity:Entity)
  WHERE entity.type IN $private_types
  WITH DISTINCT entity
  ORDER BY entity.key
  RETURN collect([entity.type, entity.name]) AS names
}
RETURN artifact.artifact_id AS artifact_id, artifact.content AS content, names
ORDER BY artifact_id
