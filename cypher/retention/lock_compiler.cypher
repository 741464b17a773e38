// Take the lock for compiling the tenant and delete the counts behind suggestions; the compiler counts again.
//
// A compilation that read the sessions before and writes after this finds the version of the erasure, recorded by
// retention/stamp, and starts again.
//
// mode: write
// row:  key
MERGE (model:CompilerModel {key: $model_key})
  ON CREATE SET model.tenant_id = $tenant_id
SET
  model.tenant_id = $tenant_id,
  model.model = null,
  model.model_hash = ''
RETURN model.key AS key
