// Which of the drafts to be imported are stored already: the draft or active artifacts of their type and content.
//
// Whatever left draft and active gave its dedup_key up, so what was taken back is not met: it comes anew.
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
