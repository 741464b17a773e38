// What a new artifact meets: the one with its id, and the draft or active one with its type and content. At most two.
//
// mode: read
// row:  relation, artifact
CALL () {
  MATCH (artifact:Artifact {key: $key})
  WHERE artifact.tenant_id = $tenant_id
  RETURN 'same' AS relation, artifact
  UNION
  MATCH (artifact:Artifact {dedup_key: $dedup_key})
  WHERE artifact.tenant_id = $tenant_id
  RETURN 'twin' AS relation, artifact
}
RETURN relation, properties(artifact) AS artifact
ORDER BY relation
