// Note what a reader says of a pack; a later word on the same pack takes the place of the earlier one.
//
// The tags are those of the artifacts it was given, as they are now. Reports are not part of what packs are made of,
// so the version of the tenant's state stays.
//
// mode: write
// row:  pack_id, signal
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
RETURN report.pack_id AS pack_id, report.signal AS signal
