// Size and indexing of memories, as one row: characters of their texts, and how many of them can be searched.
//
// A condition on the kind lets the planner use the index of tenant and kind.
//
// mode: read
// row:  total, searchable, p50, p90, p99, largest, characters
MATCH (memory:Memory {tenant_id: $tenant_id})
WHERE memory.kind IS NOT NULL AND ($project_id IS NULL OR memory.project_id = $project_id)
WITH size(coalesce(memory.text, '')) AS length, memory.search_text IS NOT NULL AS searchable
RETURN
  count(*) AS total,
  sum(CASE WHEN searchable THEN 1 ELSE 0 END) AS searchable,
  percentileDisc(length, 0.5) AS p50,
  percentileDisc(length, 0.9) AS p90,
  percentileDisc(length, 0.99) AS p99,
  max(length) AS largest,
  sum(length) AS characters
