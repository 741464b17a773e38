// The active artifacts about the same conditions or causes as drafts that are to be imported.
//
// Without the hint the planner reads every active artifact of the tenant for each draft.
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
