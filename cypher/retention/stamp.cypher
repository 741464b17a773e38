// Mark the sessions that lost events with the version of the commit, so that they are compiled again, and record the
// version for compilations in progress. The tenant is locked by tenants/bump.
//
// mode: write
// row:  -
MATCH (tenant:Tenant {key: $tenant_key, tenant_id: $tenant_id})
SET tenant.erased_version = $version
WITH tenant
MATCH (session:Session)
WHERE session.key IN $batch.session_keys AND session.tenant_id = $tenant_id
SET session.changed_version = $version
