// What the tenant knows now.
//
// Active artifacts by type, those of the highest confidence first.
//
// mode: read
// row:  artifact_type, title, confidence, seen, success_rate, version, artifact_id
MATCH (artifact:Artifact {tenant_id: $tenant_id, status: 'active'})
RETURN
  artifact.artifact_type AS artifact_type,
  artifact.title AS title,
  artifact.confidence AS confidence,
  artifact.observed_count AS seen,
  artifact.success_rate AS success_rate,
  artifact.version AS version,
  artifact.artifact_id AS artifact_id
ORDER BY artifact_type, confidence DESC, artifact_id
