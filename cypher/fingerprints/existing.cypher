// The draft or active artifacts that already have the type and content of a draft that is to be imported.
//
// Artifacts that left draft and active have no dedup_key, so a withdrawn draft is not found and is imported again.
//
// mode: read
// row:  wanted_key, key, artifact_id, status, imported
UNWIND $drafts AS draft
MATCH (artifact:Artifact {dedup_key: draft.dedup_key})
WHERE artifact.tenant_id = $tenant_id
RETURN
  draft.key AS wanted_key,
  artifact.key AS key,
  artifact.artifact_id AS artifact_id,
  artifact.status AS status,
  artifact.imported = true AS imported
ORDER BY wanted_key, key
