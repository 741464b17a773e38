// Mark artifacts as compared with all others about their condition or cause.
//
// mode: write
// row:  -
MATCH (artifact:Artifact)
WHERE artifact.key IN $keys AND artifact.tenant_id = $tenant_id
WITH artifact
ORDER BY artifact.key
REMOVE artifact.uncompared
