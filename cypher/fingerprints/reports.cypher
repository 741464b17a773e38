// The latest reports on context packs, at most $limit: what was in the packs and how useful they were.
//
// With tenant and time in ORDER BY, only the rows returned are read from the index.
//
// mode: read
// row:  pack_id, signal, budget, section_tokens, artifact_ids, tags
MATCH (report:PackReport {tenant_id: $tenant_id})
WHERE report.at_us IS NOT NULL
WITH report
ORDER BY report.tenant_id DESC, report.at_us DESC, report.key
LIMIT $limit
RETURN
  report.pack_id AS pack_id,
  report.signal AS signal,
  report.budget AS budget,
  report.section_tokens AS section_tokens,
  report.artifact_ids AS artifact_ids,
  report.tags AS tags
ORDER BY report.at_us DESC, report.key
