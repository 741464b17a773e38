// Remove the words from the compiled artifacts that cite an erased session, and in all versions of their chains replace
// the name of the pattern (lineage_key), which consists of words too, by its hash.
//
// Id, type, content hash, links, status, counts and times stay, so that chains, evidence and the compiler still find
// them. The artifacts are locked by artifacts/lock; those that lose their words are deprecated already.
//
// mode: write
// row:  -
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
