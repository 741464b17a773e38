// One row with the tenant's active artifacts as far as a fingerprint looks at them before it chooses; no contents yet.
//
// One row, because 10^4 of them cost more than what they carry.
//
// mode: read
// row:  artifacts
MATCH (artifact:Artifact {tenant_id: $tenant_id, status: 'active'})
WITH artifact
ORDER BY artifact.artifact_id
RETURN collect({
  artifact_id: artifact.artifact_id,
  artifact_type: artifact.artifact_type,
  title: artifact.title,
  content_hash: artifact.content_hash,
  confidence: artifact.confidence,
  observed_count: CASE
    WHEN artifact.observed_counts[-1] >= 0 THEN artifact.observed_counts[-1]
    ELSE size(artifact.source_events)
  END,
  success_rate: CASE WHEN artifact.success_rates[-1] >= 0 THEN artifact.success_rates[-1] ELSE 0.0 END,
  tags: coalesce(artifact.tags, [])
}) AS artifacts
