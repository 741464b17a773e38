// Those of the given draft and active artifacts whose evidence is all erased: no live event, no memory in force.
//
// The artifacts are locked already, so what is read here is true until the commit.
//
// mode: read
// row:  key, artifact_id
MATCH (artifact:Artifact)
WHERE artifact.key IN $batch.artifact_keys
  AND artifact.tenant_id = $tenant_id
  AND artifact.status IN ['draft', 'active']
  AND NOT EXISTS { (artifact)-[:EVIDENCED_BY]->(event:Event) WHERE event.erased IS NULL }
  AND NOT EXISTS { (artifact)-[:DERIVED_FROM]->(memory:Memory) WHERE memory.status IN ['promoted', 'tentative'] }
RETURN artifact.key AS key, artifact.artifact_id AS artifact_id
ORDER BY key
