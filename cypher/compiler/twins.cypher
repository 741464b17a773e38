// Which of the contents that are about to be stored some draft or active artifact has already.
//
// mode: read
// row:  dedup_key, key, artifact_id, status, lineage_key
MATCH (artifact:Artifact)
WHERE artifact.dedup_key IN $dedup_keys AND artifact.tenant_id = $tenant_id
RETURN
  artifact.dedup_key AS dedup_key,
  artifact.key AS key,
  artifact.artifact_id AS artifact_id,
  artifact.status AS status,
  artifact.lineage_key AS lineage_key
ORDER BY key
