// The newest records that answer to all facets, and how many the index gave, at most $window: fewer means all of them.
//
// The full-text index keeps a word for each facet and intersects them before anything is read from the store. Only the
// times of what it gives are read; the facets, which are long, are checked by value for those that are answered.
//
// mode: read
// row:  key, created_us, total
CALL db.index.fulltext.queryNodes('record_text', $question, {limit: $window_limit})
YIELD node AS record
WHERE record.tenant_id = $tenant_id
WITH collect(record) AS found
UNWIND found AS record
WITH record, size(found) AS total
WHERE $include_hidden OR record.hidden_reason IS NULL
WITH record, total
ORDER BY record.created_us DESC, record.key
LIMIT $limit
WITH record, total
WHERE all(facet IN $batch.facets WHERE facet IN record.facets)
  AND (size($batch.any_facets) = 0 OR any(facet IN $batch.any_facets WHERE facet IN record.facets))
RETURN record.key AS key, record.created_us AS created_us, total
ORDER BY created_us DESC, key
