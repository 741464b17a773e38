// The given artifacts that are active and about a condition or cause, each with its rivals: the other active artifacts
// about the same condition or cause that have no conflict with the artifact yet.
//
// The conflicts of an artifact are read once, not once for each other artifact. Without the hint the planner reads
// every active artifact of the tenant for each claim.
//
// mode: read
// row:  claim, rivals
MATCH (artifact:Artifact)
WHERE artifact.key IN $keys
  AND artifact.tenant_id = $tenant_id
  AND artifact.status = 'active'
  AND artifact.situation_key IS NOT NULL
OPTIONAL MATCH (artifact)<-[:BETWEEN]-(:Conflict)-[:BETWEEN]->(side:Artifact)
WITH artifact, collect(DISTINCT side.key) AS opposed
OPTIONAL MATCH (other:Artifact {situation_key: artifact.situation_key})
USING INDEX SEEK other:Artifact(situation_key)
WHERE other.tenant_id = $tenant_id
  AND other.status = 'active'
  AND other.key <> artifact.key
  AND NOT other.key IN opposed
WITH artifact, other
ORDER BY other.key
WITH artifact, collect(properties(other)) AS rivals
RETURN properties(artifact) AS claim, rivals
ORDER BY artifact.key
