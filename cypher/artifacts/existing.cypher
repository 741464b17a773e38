// For a new artifact, the stored artifact with its id (same), and the draft or active one with its type and content
// (twin): at most two rows.
//
// Another writer may commit between the two lookups, so the row found by content may turn out to be the one with the
// id.
//
// mode: read
// row:  relation, artifact
CALL () {
  MATCH (artifact:Artifact {key: $key})
  WHERE artifact.tenant_id = $tenant_id
  RETURN artifact
  UNION
  MATCH (artifact:Artifact {dedup_key: $dedup_key})
  WHERE artifact.tenant_id = $tenant_id
  RETURN artifact
}
RETURN CASE artifact.key WHEN $key THEN 'same' ELSE 'twin' END AS relation, properties(artifact) AS artifact
ORDER BY relation
