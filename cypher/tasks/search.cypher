// The records that a full-text query finds. Exact filters are required words of the query, so the index applies them
// before it ranks; they are checked again by value here.
//
// mode: read
// row:  key, score, artifact_kind, artifact_role, created_us, projection_kinds
CALL db.index.fulltext.queryNodes('record_text', $question, {limit: $limit})
YIELD node AS record, score
WHERE record.tenant_id = $tenant_id
  AND all(facet IN $batch.facets WHERE facet IN record.facets)
  AND (size($batch.any_facets) = 0 OR any(facet IN $batch.any_facets WHERE facet IN record.facets))
  AND ($include_hidden OR record.hidden_reason IS NULL)
RETURN
  record.key AS key,
  score,
  record.artifact_kind AS artifact_kind,
  record.artifact_role AS artifact_role,
  record.created_us AS created_us,
  record.projection_kinds AS projection_kinds
ORDER BY score DESC, created_us DESC, key
