// Which of the drafts to be imported are stored already, by their id or by their type and content.
//
// mode: read
// row:  wanted_key, key, artifact_id, status, imported
UNWIND $drafts AS draft
CALL (draft) {
  MATCH (artifact:Artifact {key: draft.key})
  WHERE artifact.tenant_id = $tenant_id
  RETURN artifact
  UNION
  MATCH (artifact:Artifact {dedup_key: draft.dedup_key})
  WHERE artifact.tenant_id = $tenant_id
  RETURN artifact
}
RETURN
  draft.key AS wanted_key,
  artifact.key AS key,
  artifact.artifact_id AS artifact_id,
  artifact.status AS status,
  artifact.imported = true AS imported
ORDER BY wanted_key, key
