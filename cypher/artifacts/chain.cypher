// All versions of a chain that are visible as of a time, oldest first.
//
// A version that is read while a commit changes it may lack its times. It is returned all the same, so that the reader
// notices and reads again.
//
// mode: read
// row:  artifact
MATCH (version:Artifact)
WHERE version.chain_key = $chain_key
  AND version.version > 0
  AND version.tenant_id = $tenant_id
  AND coalesce(version.status_times[0], 0) <= $as_of_us
RETURN properties(version) AS artifact
ORDER BY version.version, version.artifact_id
