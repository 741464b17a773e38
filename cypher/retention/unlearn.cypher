// Drop the model that suggestions are made from where no event is left that it could have been learnt from.
//
// The index gives the tenant's events; the first that still holds content ends the search.
//
// mode: write
// row:  dropped
MATCH (model:CompilerModel {key: $model_key, tenant_id: $tenant_id})
WHERE NOT EXISTS {
  MATCH (event:Event)
  USING INDEX SEEK event:Event(tenant_id, time_us)
  WHERE event.tenant_id = $tenant_id AND event.time_us IS NOT NULL AND event.erased IS NULL
}
DELETE model
RETURN count(*) AS dropped
