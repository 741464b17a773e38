// Drop the model where the tenant's sessions teach nothing any more. The node was locked by compiler/lock before.
//
// mode: write
// row:  dropped
MATCH (model:CompilerModel {key: $model_key, tenant_id: $tenant_id})
DELETE model
RETURN count(*) AS dropped
