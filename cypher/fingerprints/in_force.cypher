// The priors and compiler parameters of the latest import that is neither withdrawn nor erased: at most one row. With
// $as_of_us, imports that are later or had expired by then do not count.
//
// Two imports may have the same time, because the tenant's logical time may stand still between them; the state
// version, which always rises, then decides.
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
