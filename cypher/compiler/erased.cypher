// At which version of the tenant's state something was last erased, 0 if never: one row.
//
// It is read under the lock of compiler/lock, which erasures take too.
//
// mode: read
// row:  erased_version
MATCH (tenant:Tenant {key: $tenant_key, tenant_id: $tenant_id})
RETURN coalesce(tenant.erased_version, 0) AS erased_version
