// The tenant's state version at the last erasure, 0 if there was none: one row.
//
// Read under the lock of compiler/lock, which erasures take too.
//
// mode: read
// row:  erased_version
MATCH (tenant:Tenant {key: $tenant_key, tenant_id: $tenant_id})
RETURN coalesce(tenant.erased_version, 0) AS erased_version
