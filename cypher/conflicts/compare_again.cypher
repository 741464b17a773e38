// Mark all active artifacts about a condition or cause for another comparison, and store the hash of the policies to
// compare them with.
//
// Artifacts are locked before the tenant, as in every transaction that locks both.
//
// mode: write
// row:  -
CALL () {
  MATCH (artifact:Artifact {tenant_id: $tenant_id, status: 'active'})
  WHERE artifact.situation_key IS NOT NULL
  WITH artifact
  ORDER BY artifact.key
  SET artifact.uncompared = true
}
MATCH (tenant:Tenant {key: $tenant_key, tenant_id: $tenant_id})
SET tenant.compared_policies = $policies
