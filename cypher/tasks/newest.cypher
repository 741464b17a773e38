// The keys of the newest records that have all facets, among the tenant's $window_limit newest.
//
// The index gives the records in order of time, so that no more is read than needed. Both orders name every property
// of the index, even the one that is equal for all rows: only then does the planner read them from the index in order.
//
// mode: read
// row:  key
MATCH (record:TaskRecord)
WHERE record.tenant_id = $tenant_id AND record.created_us IS NOT NULL
WITH record
ORDER BY record.tenant_id DESC, record.created_us DESC
LIMIT $window_limit
WITH record
WHERE all(facet IN $batch.facets WHERE facet IN record.facets)
  AND (size($batch.any_facets) = 0 OR any(facet IN $batch.any_facets WHERE facet IN record.facets))
  AND ($include_hidden OR record.hidden_reason IS NULL)
RETURN record.key AS key
ORDER BY record.tenant_id DESC, record.created_us DESC, key
LIMIT $limit
