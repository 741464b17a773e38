// Those of the given artifacts that are active and about a condition or cause, each with the other active artifacts
// about it that have no conflict with it yet.
//
// The conflicts of an artifact are read once, not once for each other artifact. Without the hint the planner reads
// every active artifact of the tenant for each claim.
//
// mode: read
// row:  claim, rivals
MATCH (one:Artifact)
WHERE one.key IN $keys AND one.tenant_id = $tenant_id AND one.status = 'active' AND one.situation_key IS NOT NULL
OPTIONAL MATCH (one)<-[:BETWEEN]-(:Conflict)-[:BETWEEN]->(side:Artifact)
WITH one, collect(DISTINCT side.key) AS opposed
OPTIONAL MATCH (other:Artifact {situation_key: one.situation_key})
USING INDEX SEEK other:Artifact(situation_key)
WHERE other.tenant_id = $tenant_id
  AND other.status = 'active'
  AND other.key <> one.key
  AND NOT other.key IN opposed
WITH one, other
ORDER BY other.key
WITH one, collect(properties(other)) AS rivals
RETURN properties(one) AS claim, rivals
ORDER BY one.key
