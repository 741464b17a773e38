// Update the counts of artifacts whose content stays the same, and add them to each one's history.
//
// Counts take effect no earlier than the previous ones. The artifacts are locked by artifacts/lock.
//
// Planner: without the hint it may search all artifacts of the tenant with that status.
//
// mode: write
// row:  -
UNWIND $counts AS row
MATCH (artifact:Artifact {key: row.key})
USING INDEX SEEK artifact:Artifact(key)
WHERE artifact.tenant_id = $tenant_id AND artifact.status IN ['draft', 'active']
WITH
  artifact,
  row,
  CASE WHEN row.at_us > artifact.count_times[-1] THEN row.at_us ELSE artifact.count_times[-1] END AS at_us
SET
  artifact.observed_count = row.observed_count,
  artifact.success_rate = row.success_rate,
  artifact.updated_us = at_us,
  artifact.count_times = artifact.count_times + at_us,
  artifact.observed_counts = artifact.observed_counts + row.observed_count,
  artifact.success_rates = artifact.success_rates + row.success_rate,
  artifact.worked = row.worked
