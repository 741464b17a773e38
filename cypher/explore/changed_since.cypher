// What changed since a time.
//
// Artifacts whose status changed at or after a time (ISO 8601 with offset), latest first.
//
// A condition on the time of recording lets the planner use the index of tenant and time of recording.
//
// mode: read
// row:  changed, status, artifact_type, title, version
MATCH (artifact:Artifact {tenant_id: $tenant_id})
WHERE artifact.recorded_us IS NOT NULL
WITH artifact, datetime($since).epochMillis * 1000 AS since_us, artifact.status_times[-1] AS changed_us
WHERE changed_us >= since_us
RETURN
  toString(datetime({epochMillis: changed_us / 1000})) AS changed,
  artifact.status AS status,
  artifact.artifact_type AS artifact_type,
  artifact.title AS title,
  artifact.version AS version
ORDER BY changed_us DESC, artifact.artifact_id
