// The keys of the newest records that answer to all facets, among the $window newest of one project.
//
// The index gives the records in order of time, so that no more than the window is ever read; what many records answer
// to is found among the newest few, what few answer to is asked of tasks/matching. The order names every property of
// the index, the ones that are equal for all rows too: only then does the planner take it from the index.
//
// mode: read
// row:  key, created_us
MATCH (record:TaskRecord)
WHERE record.tenant_id = $tenant_id AND record.project_id = $anchor AND record.created_us <= $before_us
WITH record
ORDER BY record.tenant_id DESC, record.project_id DESC, record.created_us DESC
LIMIT $window_limit
WITH record
WHERE all(facet IN $batch.facets WHERE facet IN record.facets)
  AND (size($batch.any_facets) = 0 OR any(facet IN $batch.any_facets WHERE facet IN record.facets))
  AND ($include_hidden OR record.hidden_reason IS NULL)
WITH record.key AS key, record.created_us AS created_us
ORDER BY created_us DESC, key
LIMIT $limit
RETURN key, created_us
ORDER BY created_us DESC, key
