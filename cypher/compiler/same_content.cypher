// The draft or active artifacts with a content that is about to be stored.
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
