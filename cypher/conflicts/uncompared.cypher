// Active artifacts with a condition that no compilation has compared yet with other artifacts on the same condition.
//
// mode: read
// row:  key
MATCH (artifact:Artifact)
USING INDEX SEEK artifact:Artifact(tenant_id, status, uncompared)
WHERE artifact.tenant_id = $tenant_id AND artifact.status = 'active' AND artifact.uncompared = true
RETURN artifact.key AS key
ORDER BY key
