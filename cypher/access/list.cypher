// The tenant's API keys, newest first.
//
// A condition on the time lets the planner use the index of tenant and time.
//
// mode: read
// row:  access
MATCH (access:ApiKey)
WHERE access.tenant_id = $tenant_id AND access.created_us IS NOT NULL
RETURN properties(access) AS access
ORDER BY access.created_us DESC, access.key_id
