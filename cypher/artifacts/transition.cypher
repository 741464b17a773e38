// Change the status of artifacts whose present status allows it (HMX-A 5), and record it in their history.
//
// The artifacts are locked by artifacts/lock. One whose status does not allow the change returns no row. A change takes
// effect no earlier than the previous one. An artifact that leaves draft and active gives up its dedup_key, so that
// others may have its content.
//
// Planner: without the hint it may search all artifacts of the tenant with that status.
//
// mode: write
// row:  at_us
UNWIND $changes AS change
MATCH (artifact:Artifact {key: change.key})
USING INDEX SEEK artifact:Artifact(key)
WHERE artifact.tenant_id = $tenant_id AND artifact.status IN change.from
WITH
  artifact,
  change,
  CASE WHEN change.at_us > artifact.status_times[-1] THEN change.at_us ELSE artifact.status_times[-1] END AS at_us
SET
  artifact.status = change.status,
  artifact.updated_us = at_us,
  artifact.status_times = artifact.status_times + at_us,
  artifact.status_values = artifact.status_values + change.status,
  artifact.status_reasons = artifact.status_reasons + change.reason,
  artifact.dedup_key = CASE WHEN change.status IN ['draft', 'active'] THEN artifact.dedup_key END
RETURN at_us
ORDER BY artifact.artifact_id
