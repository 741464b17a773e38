// Record which version of the tenant's state was compiled, from summaries of which form. It follows tenants/bump if
// anything visible was written, and changes nothing but this mark.
//
// mode: write
// row:  compiled_version
MATCH (tenant:Tenant {key: $tenant_key, tenant_id: $tenant_id})
SET tenant.compiled_version = $version, tenant.compiled_summaries = $summary_version
RETURN tenant.compiled_version AS compiled_version
