// The model behind suggestions: at most one row.
//
// mode: read
// row:  model
MATCH (model:CompilerModel {key: $model_key, tenant_id: $tenant_id})
RETURN model.model AS model
