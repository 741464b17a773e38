// The active artifacts about a condition that have no conflict yet with another one about the same condition.
//
// Nothing but status and condition is read of artifacts that all have their conflicts.
//
// mode: read
// row:  key
MATCH (artifact:Artifact)
USING INDEX SEEK artifact:Artifact(tenant_id, status)
WHERE artifact.tenant_id = $tenant_id AND artifact.status = 'active' AND artifact.situation_key IS NOT NULL
WITH artifact.situation_key AS situation_key, collect(artifact) AS rivals
WHERE size(rivals) > 1
UNWIND rivals AS one
UNWIND rivals AS other
WITH one, other
WHERE one <> other AND NOT EXISTS { (one)<-[:BETWEEN]-(:Conflict)-[:BETWEEN]->(other) }
RETURN DISTINCT one.key AS key
ORDER BY key
