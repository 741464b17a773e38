// Store the vectors of events. The first ones of a tenant fix the size of all; vectors of another size are not written,
// and *dimension* shows the size.
//
// The tenant's node is locked first: of two clients whose vectors differ in size, the later one stores nothing.
//
// mode: write
// row:  dimension, stored
MATCH (tenant:Tenant {key: $tenant_key, tenant_id: $tenant_id})
SET
  tenant.vector_dimension = coalesce(tenant.vector_dimension, $dimension),
  tenant.state_version = tenant.state_version + 1
WITH tenant.vector_dimension AS dimension
CALL (dimension) {
  UNWIND CASE WHEN dimension = $dimension THEN $batch.vectors ELSE [] END AS pair
  MATCH (event:Event {key: pair[0], tenant_id: $tenant_id})
  WHERE event.erased IS NULL
  SET event.vector = pair[1]
  RETURN count(*) AS stored
}
RETURN dimension, stored
