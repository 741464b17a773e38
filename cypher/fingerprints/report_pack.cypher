// Store a reader's report on a pack; a later report on the same pack replaces the earlier one.
//
// The tags are the current tags of the artifacts in the pack. Packs do not depend on reports, so the state version
// stays.
//
// mode: write
// row:  -
MERGE (report:PackReport {key: $key})
  ON CREATE SET report.tenant_id = $tenant_id
SET
  report.pack_id = $pack_id,
  report.signal = $signal,
  report.at_us = $at_us,
  report.budget = $budget,
  report.section_tokens = $section_tokens,
  report.artifact_ids = $artifact_ids
WITH report
CALL () {
  UNWIND $artifact_keys AS artifact_key
  MATCH (artifact:Artifact {key: artifact_key, tenant_id: $tenant_id})
  UNWIND artifact.tags AS tag
  WITH DISTINCT tag
  ORDER BY tag
  RETURN collect(tag) AS tags
}
SET report.tags = tags
