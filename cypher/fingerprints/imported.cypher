// The draft and active artifacts of given types, imported ones and the tenant's own. Drafts that only untrusted sources
// support are left out: they confirm nothing.
//
// mode: read
// row:  key, artifact_id, artifact_type, status, imported, title, content
MATCH (artifact:Artifact)
USING INDEX SEEK artifact:Artifact(tenant_id, status)
WHERE artifact.tenant_id = $tenant_id
  AND artifact.status IN ['draft', 'active']
  AND artifact.artifact_type IN $types
  AND NOT (artifact.status = 'draft' AND artifact.metadata CONTAINS '"untrusted_sources"')
RETURN
  artifact.key AS key,
  artifact.artifact_id AS artifact_id,
  artifact.artifact_type AS artifact_type,
  artifact.status AS status,
  artifact.imported IS NOT NULL AS imported,
  artifact.title AS title,
  artifact.content AS content
ORDER BY key
