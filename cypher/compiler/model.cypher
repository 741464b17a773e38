// The model that suggestions are made from: at most one row.
//
// mode: read
// row:  model, profile
MATCH (model:CompilerModel {key: $model_key, tenant_id: $tenant_id})
RETURN model.model AS model, model.profile AS profile
