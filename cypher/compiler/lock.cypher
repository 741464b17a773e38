// Take the lock for compiling a tenant: the first statement of the writing transaction.
//
// Compilations of one tenant run one after another, so that each sees the heads of the previous one.
//
// mode: write
// row:  model_hash
MERGE (model:CompilerModel {key: $model_key})
  ON CREATE SET model.tenant_id = $tenant_id, model.model_hash = ''
SET model.tenant_id = $tenant_id
RETURN model.model_hash AS model_hash
