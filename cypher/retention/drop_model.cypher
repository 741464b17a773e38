// Delete the node with the counts behind suggestions if the tenant has no event with content left.
//
// The index gives the tenant's events; the first one with content ends the search.
//
// mode: write
// row:  -
MATCH (model:CompilerModel {key: $model_key, tenant_id: $tenant_id})
WHERE NOT EXISTS {
  MATCH (event:Event)
  USING INDEX SEEK event:Event(tenant_id, time_us)
  WHERE event.tenant_id = $tenant_id AND event.time_us IS NOT NULL AND event.erased IS NULL
}
DELETE model
