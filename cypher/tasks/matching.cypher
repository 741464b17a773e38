// The newest records that answer to all facets, and how many the index gave, at most $window_limit: fewer means all.
//
// The full-text index keeps a word for each facet, and one for what is hidden, and intersects them before anything is
// read from the store. Of what it gives only times and keys are read, the rest is checked by value for those that are
// answered: a record has many properties, and to look for one that is not there reads them all.
//
// mode: read
// row:  key, created_us, total
CALL db.index.fulltext.queryNodes('record_text', $question, {limit: $window_limit})
YIELD node AS record
WITH collect(record) AS found
UNWIND found AS record
WITH record, size(found) AS total
ORDER BY record.created_us DESC, record.key
LIMIT $limit
WITH record, total
WHERE record.tenant_id = $tenant_id AND all(facet IN $batch.facets WHERE facet IN record.facets)
  AND (size($batch.any_facets) = 0 OR any(facet IN $batch.any_facets WHERE facet IN record.facets))
  AND ($include_hidden OR record.hidden_reason IS NULL)
RETURN record.key AS key, record.created_us AS created_us, total
ORDER BY created_us DESC, key
