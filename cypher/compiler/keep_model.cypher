// Store the model behind suggestions. The node is locked by compiler/lock.
//
// mode: write
// row:  -
MATCH (model:CompilerModel {key: $model_key, tenant_id: $tenant_id})
SET
  model.model_hash = $model_hash,
  model.model = $model,
  model.profile = $profile
