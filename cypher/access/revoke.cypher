// Revoke an API key of the tenant; the time of the first revocation is kept.
//
// mode: write
// row:  access
MATCH (access:ApiKey {key: $key})
WHERE access.tenant_id = $tenant_id
SET access.revoked_us = coalesce(access.revoked_us, $revoked_us)
RETURN properties(access) AS access
