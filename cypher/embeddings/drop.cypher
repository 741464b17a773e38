// Remove up to $limit vectors of the tenant; together with the last ones, also the stored vector size.
//
// The state version rises, because packs change.
//
// mode: write
// row:  removed
MATCH (tenant:Tenant {key: $tenant_key, tenant_id: $tenant_id})
SET tenant.vectors_version = -1, tenant.state_version = tenant.state_version + 1
WITH tenant
CALL (tenant) {
  MATCH (event:Event)
  USING INDEX SEEK event:Event(tenant_id, time_us)
  WHERE event.tenant_id = $tenant_id AND event.time_us IS NOT NULL AND event.vector IS NOT NULL
  WITH event
  ORDER BY event.tenant_id, event.time_us
  LIMIT $limit
  REMOVE event.vector
  RETURN count(*) AS removed
}
FOREACH (_ IN CASE WHEN removed < $limit THEN [1] ELSE [] END | REMOVE tenant.vector_dimension)
RETURN removed
