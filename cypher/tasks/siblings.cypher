// The records that carry the same event tag and belong to the same project, a bounded number for each tag.
//
// mode: read
// row:  tag, siblings
UNWIND $batch.tags AS row
CALL (row) {
  CALL db.index.fulltext.queryNodes('record_text', row.question, {limit: $limit})
  YIELD node AS record
  WHERE record.tenant_id = $tenant_id AND row.tag IN record.tags AND record.hidden_reason IS NULL
    AND coalesce(record.project_id, '') = row.project_id
  WITH record
  ORDER BY record.created_us, record.key
  RETURN collect(record {.artifact_id, .artifact_kind, .text, .tags}) AS siblings
}
RETURN row.tag AS tag, siblings
ORDER BY tag, row.project_id
