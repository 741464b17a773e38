// Take the lock under which a tenant is compiled and drop what was learnt for suggestions; the compiler learns it anew.
//
// A compilation that read the sessions before and writes after this finds the version of the erasure, which
// retention/stamp notes, and begins again.
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
