// Remove the words from compiled artifacts. Id, type, hash, links, status, counts and times stay, so that chains,
// evidence and the compiler still find them. All versions of their chains lose the words of the pattern's name.
//
// The artifacts are locked by artifacts/lock, and are no longer in force.
//
// mode: write
// row:  artifact_id
UNWIND $batch.artifacts AS row
MATCH (artifact:Artifact {key: row.key})
WHERE artifact.tenant_id = $tenant_id
SET artifact.lineage_key = row.lineage_key
WITH artifact, row
WHERE row.cites_session
SET
  artifact += $blank,
  artifact.situation_key = null,
  artifact.erased = true
RETURN artifact.artifact_id AS artifact_id
ORDER BY artifact_id
