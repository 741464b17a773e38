// The active artifacts about a condition, which may contradict others.
//
// mode: read
// row:  key
MATCH (artifact:Artifact {tenant_id: $tenant_id, status: 'active'})
WHERE artifact.situation_key IS NOT NULL
RETURN artifact.key AS key
ORDER BY key
