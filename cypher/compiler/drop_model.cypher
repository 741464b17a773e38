// Delete the model behind suggestions: the tenant's sessions no longer support one. The node is locked by
// compiler/lock.
//
// mode: write
// row:  -
MATCH (model:CompilerModel {key: $model_key, tenant_id: $tenant_id})
DELETE model
