// The parameters that the compiler last used, if recorded: at most one row.
//
// mode: read
// row:  compiler_parameters
MATCH (model:CompilerModel {key: $model_key, tenant_id: $tenant_id})
WHERE model.compiler_parameters IS NOT NULL
RETURN model.compiler_parameters AS compiler_parameters
