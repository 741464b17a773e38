// The model behind suggestions: at most one row.
//
// mode: read
// row:  model, profile
MATCH (model:CompilerModel {key: $model_key, tenant_id: $tenant_id})
RETURN model.model AS model, model.profile AS profile
