// The active artifacts that can guide a running session.
//
// mode: read
// row:  guide
MATCH (artifact:Artifact)
USING INDEX SEEK artifact:Artifact(tenant_id, status, guides)
WHERE artifact.tenant_id = $tenant_id
  AND artifact.status = 'active'
  AND artifact.guides IS NOT NULL
RETURN
  artifact {
    .artifact_id, .artifact_type, .title, .content, .metadata, .confidence, .observed_count
  } AS guide
ORDER BY artifact.artifact_id
