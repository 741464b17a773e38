// Take the lock for compiling the tenant and delete the counts behind suggestions; the compiler counts again.
//
// A compilation that read the sessions before this erasure must not store what it learned from them. When it gets the
// lock, it sees that retention/stamp recorded a later version of the tenant than the one it read, and starts again.
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
