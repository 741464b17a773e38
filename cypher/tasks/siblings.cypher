// For each event tag, the first records with that tag in the same project.
//
// A full-text query can require a project, but not that there is none. That is checked on the records, so the index is
// queried for more of them than needed.
//
// mode: read
// row:  place, siblings
UNWIND $batch.tags AS row
CALL (row) {
  CALL db.index.fulltext.queryNodes('record_text', row.question, {limit: $window_limit})
  YIELD node AS record
  WHERE record.tenant_id = $tenant_id AND row.tag IN record.tags AND record.hidden_reason IS NULL
    AND coalesce(record.project_id, '') = row.project_id
  WITH record
  ORDER BY record.created_us, record.key
  LIMIT $limit
  RETURN collect(record {.artifact_id, .artifact_kind, .text, .tags}) AS siblings
}
RETURN row.place AS place, siblings
ORDER BY place
