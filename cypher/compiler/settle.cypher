// Record which version of the tenant's state was compiled, and the version of the summaries.
//
// It runs after tenants/bump if anything visible was written, and does not raise the state version itself.
//
// mode: write
// row:  -
MATCH (tenant:Tenant {key: $tenant_key, tenant_id: $tenant_id})
SET tenant.compiled_version = $version, tenant.compiled_summaries = $summary_version
