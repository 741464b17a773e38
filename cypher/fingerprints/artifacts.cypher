// The tenant's active artifacts without their contents, in one row: the candidates for a fingerprint.
//
// One row, because 10^4 rows cost more than the data in them.
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
