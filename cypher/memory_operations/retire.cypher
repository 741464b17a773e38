// Hide duplicate digests; nothing is deleted.
//
// mode: write
// row:  artifact_id
MATCH (digest:TaskRecord)
WHERE digest.key IN $batch.keys AND digest.tenant_id = $tenant_id AND digest.artifact_kind = 'digest'
  AND digest.hidden_reason IS NULL
SET digest.hidden_reason = 'duplicate_digest', digest.hidden_us = $at_us, digest.scope = digest.scope + ' hidden'
RETURN digest.artifact_id AS artifact_id
ORDER BY artifact_id
