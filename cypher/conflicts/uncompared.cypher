// Active artifacts that no compilation has compared yet with the others about the same condition or cause.
//
// mode: read
// row:  key
MATCH (artifact:Artifact)
USING INDEX SEEK artifact:Artifact(tenant_id, status, uncompared)
WHERE artifact.tenant_id = $tenant_id AND artifact.status = 'active' AND artifact.uncompared = true
RETURN artifact.key AS key
ORDER BY key
