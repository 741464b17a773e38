// The newest records that have all facets, and the number of hits, at most $window_limit: fewer means that these are
// all.
//
// The full-text index has a word for each facet and one for hidden records, and intersects them before anything is read
// from the store. Of the hits only times and keys are read; facets are checked by value for those returned, because
// records have many properties and looking for an absent one reads them all.
//
// mode: read
// row:  key, total
CALL db.index.fulltext.queryNodes('record_text', $question, {limit: $window_limit})
YIELD node AS record
WITH collect(record) AS hits
UNWIND hits AS record
WITH record, size(hits) AS total
ORDER BY record.created_us DESC, record.key
LIMIT $limit
WITH record, total
WHERE record.tenant_id = $tenant_id AND all(facet IN $batch.facets WHERE facet IN record.facets)
  AND (size($batch.any_facets) = 0 OR any(facet IN $batch.any_facets WHERE facet IN record.facets))
  AND ($include_hidden OR record.hidden_reason IS NULL)
RETURN record.key AS key, total
ORDER BY record.created_us DESC, key
