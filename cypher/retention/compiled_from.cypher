// Compiled artifacts that cite the sessions of the events to be erased and are not blanked yet, with the other versions
// of their chains.
//
// An artifact names only some steps of a session but may contain any of its words, so the whole session counts. The
// versions of a chain share the name of their pattern, which consists of words too.
//
// The links of artifacts to their evidence name the session, so neither the other events of a long session nor the
// other evidence of a large tenant's artifacts is read. Conditions on the artifact come after it is found: otherwise
// the planner starts at the artifacts of all tenants.
//
// mode: read
// row:  key, artifact_id, lineage_key, cites_session, living
MATCH ()-[link:EVIDENCED_BY]->()
USING INDEX SEEK link:EVIDENCED_BY(session_key)
WHERE link.session_key IN $batch.session_keys
WITH DISTINCT startNode(link) AS artifact
WHERE artifact:Artifact
  AND artifact.tenant_id = $tenant_id
  AND artifact.erased IS NULL
  AND artifact.agent_id = $compiler
  AND artifact.lineage_key STARTS WITH $lineages
WITH artifact.chain_key AS chain_key, collect(artifact.key) AS citing
MATCH (version:Artifact)
WHERE version.chain_key = chain_key AND version.version > 0 AND version.tenant_id = $tenant_id
RETURN
  version.key AS key,
  version.artifact_id AS artifact_id,
  version.lineage_key AS lineage_key,
  version.key IN citing AS cites_session,
  version.key IN citing AND version.status IN ['draft', 'active'] AS living
ORDER BY key
