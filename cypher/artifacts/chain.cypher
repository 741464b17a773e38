// All versions of a chain that are visible as of a time, oldest first.
//
// mode: read
// row:  artifact
MATCH (version:Artifact)
WHERE version.chain_key = $chain_key
  AND version.version > 0
  AND version.tenant_id = $tenant_id
  AND version.status_times[0] <= $as_of_us
RETURN properties(version) AS artifact
ORDER BY version.version, version.artifact_id
