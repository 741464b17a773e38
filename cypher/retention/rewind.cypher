// Set a tenant's logical clock back to the latest time that is left. The tenant is locked by tenants/bump, so no
// later time has been written meanwhile.
//
// mode: write
// row:  -
MATCH (tenant:Tenant {key: $tenant_key, tenant_id: $tenant_id})
SET tenant.logical_us = CASE WHEN $latest_us < tenant.logical_us THEN $latest_us ELSE tenant.logical_us END
