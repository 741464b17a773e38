// The keys of the newest records that answer to all facets, among the $window_limit newest uses of entities of one name.
//
// A record may name several of them, so that the index of edges may give it more than once.
// The index gives the records in order of time, so that no more is read than what is asked for. Both orders name every
// property of the index, the ones that are equal for all rows too: only then does the planner take them from the index.
//
// mode: read
// row:  key, created_us
MATCH (record:TaskRecord)-[mention:MENTIONS]->(:Entity)
WHERE mention.tenant_id = $tenant_id AND mention.name = $anchor AND mention.created_us <= $before_us
WITH record, mention
ORDER BY mention.tenant_id DESC, mention.name DESC, mention.created_us DESC
LIMIT $window_limit
WITH DISTINCT record, mention.tenant_id AS tenant_id, mention.name AS anchored, mention.created_us AS created_us
WHERE all(facet IN $batch.facets WHERE facet IN record.facets)
  AND (size($batch.any_facets) = 0 OR any(facet IN $batch.any_facets WHERE facet IN record.facets))
  AND ($include_hidden OR record.hidden_reason IS NULL)
RETURN record.key AS key, created_us
ORDER BY tenant_id DESC, anchored DESC, created_us DESC, key
LIMIT $limit
