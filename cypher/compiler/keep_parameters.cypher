// Store the parameters that the compiler used, and how often each was changed. The node is locked by compiler/lock.
//
// mode: write
// row:  -
MATCH (model:CompilerModel {key: $model_key, tenant_id: $tenant_id})
SET model.compiler_parameters = $compiler_parameters
