// One row at most: the priors and compiler parameters of the latest import that was neither taken back nor expired.
//
// Imports may bear the same time, as that of the tenant stands still between them: the version of its state does not.
//
// mode: read
// row:  fingerprint_id, context_priors, compiler_parameters
MATCH (fingerprint:Fingerprint {tenant_id: $tenant_id})-[:EVIDENCED_BY]->(event:Event)
WHERE fingerprint.direction = 'imported'
  AND fingerprint.taken_back_us IS NULL
  AND event.erased IS NULL
  AND ($as_of_us IS NULL OR fingerprint.recorded_us <= $as_of_us)
  AND ($as_of_us IS NULL OR fingerprint.expires_us IS NULL OR fingerprint.expires_us >= $as_of_us)
RETURN
  fingerprint.fingerprint_id AS fingerprint_id,
  fingerprint.context_priors AS context_priors,
  fingerprint.compiler_parameters AS compiler_parameters
ORDER BY fingerprint.recorded_us DESC, coalesce(fingerprint.recorded_version, 0) DESC, fingerprint.key
LIMIT 1
