// What a new artifact meets: the one with its id, and the draft or active one with its type and content. At most two.
//
// Another writer may commit between the two looks: one that only the second look finds may be the one with the id.
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
