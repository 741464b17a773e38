// The active artifacts that speak about the same conditions as drafts to be imported.
//
// The hint keeps the planner from reading every active artifact of the tenant for each draft.
//
// mode: read
// row:  situation_key, rivals
UNWIND $situation_keys AS situation_key
MATCH (artifact:Artifact {situation_key: situation_key})
USING INDEX SEEK artifact:Artifact(situation_key)
WHERE artifact.tenant_id = $tenant_id AND artifact.status = 'active'
WITH situation_key, artifact
ORDER BY artifact.key
RETURN situation_key, collect(properties(artifact)) AS rivals
ORDER BY situation_key
