// A page of artifacts with everything linked to them: neighbours in the chain, evidence, memories, and the number of
// nodes of other tenants (strangers).
//
// mode: read
// row:  artifact, older, newer, evidence_keys, erased, memory_keys, strangers
MATCH (artifact:Artifact)
WHERE artifact.key IN $keys AND artifact.tenant_id = $tenant_id
RETURN
  properties(artifact) AS artifact,
  [(artifact)-[:SUPERSEDES]->(old:Artifact) |
    old {.artifact_id, .version, .status, .superseded_by, .chain_key, .artifact_type}] AS older,
  [(newer:Artifact)-[:SUPERSEDES]->(artifact) | newer.artifact_id] AS newer,
  [(artifact)-[:EVIDENCED_BY]->(event:Event) | event.key] AS evidence_keys,
  COUNT { (artifact)-[:EVIDENCED_BY]->(erased_event:Event) WHERE erased_event.erased } AS erased,
  [(artifact)-[:DERIVED_FROM]->(memory:Memory) | memory.key] AS memory_keys,
  COUNT {
    MATCH (artifact)-[:SUPERSEDES|EVIDENCED_BY|DERIVED_FROM|MENTIONS]-(other)
    WHERE other.tenant_id <> artifact.tenant_id
  } AS strangers
ORDER BY artifact.key
