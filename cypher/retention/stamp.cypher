// Stamp the sessions that lost events with the version of the commit, so that they are compiled again.
//
// mode: write
// row:  key
MATCH (session:Session)
WHERE session.key IN $batch.session_keys AND session.tenant_id = $tenant_id
SET session.changed_version = $version
RETURN session.key AS key
ORDER BY key
