// The head of a chain, its newest version, as of a time: at most one row.
//
// The chain's key is a parameter and part of ORDER BY: only then is the unique (chain_key, version) index read from its
// end, so that the cost does not grow with the chain. A version that is read while a commit changes it may lack its
// times. It is returned all the same, so that the reader notices and reads again.
//
// mode: read
// row:  artifact
MATCH (head:Artifact)
WHERE head.chain_key = $chain_key
  AND head.version > 0
  AND head.tenant_id = $tenant_id
  AND coalesce(head.status_times[0], 0) <= $as_of_us
WITH head
ORDER BY head.chain_key DESC, head.version DESC
LIMIT 1
RETURN properties(head) AS artifact
