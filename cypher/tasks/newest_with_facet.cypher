// The keys of the newest records that have all facets, among the $window_limit newest with the one in $facet_key.
//
// A facet's key includes its tenant, and the index gives its records in order of time, so that no more is read than
// needed. Both orders name every property of the index, even the one that is equal for all rows: only then does the
// planner read them from the index in order.
//
// mode: read
// row:  key
MATCH (record:TaskRecord)-[link:HAS_FACET]->(:Facet)
WHERE link.facet_key = $facet_key AND link.created_us IS NOT NULL
WITH record, link
ORDER BY link.facet_key DESC, link.created_us DESC
LIMIT $window_limit
WITH record, link.facet_key AS facet_key, link.created_us AS created_us
WHERE record.tenant_id = $tenant_id AND all(facet IN $batch.facets WHERE facet IN record.facets)
  AND (size($batch.any_facets) = 0 OR any(facet IN $batch.any_facets WHERE facet IN record.facets))
  AND ($include_hidden OR record.hidden_reason IS NULL)
RETURN record.key AS key
ORDER BY facet_key DESC, created_us DESC, key
LIMIT $limit
