// Record that all events up to a version of the state have vectors: the next pass reads only what changed since.
//
// mode: write
// row:  -
MATCH (tenant:Tenant {key: $tenant_key, tenant_id: $tenant_id})
WHERE coalesce(tenant.vectors_version, -1) < $version
SET tenant.vectors_version = $version
