// The tenant's API keys, newest first.
//
// mode: read
// row:  access
MATCH (access:ApiKey)
WHERE access.tenant_id = $tenant_id
RETURN properties(access) AS access
ORDER BY access.created_us DESC, access.key_id
