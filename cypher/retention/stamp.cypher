// Stamp the sessions that lost events with the version of the commit, so that they are compiled again, and note it for
// compilations under way. The model was locked by retention/unteach before.
//
// mode: write
// row:  key
MATCH (model:CompilerModel {key: $model_key, tenant_id: $tenant_id})
SET model.erased_version = $version
WITH model
MATCH (session:Session)
WHERE session.key IN $batch.session_keys AND session.tenant_id = $tenant_id
SET session.changed_version = $version
RETURN session.key AS key
ORDER BY key
