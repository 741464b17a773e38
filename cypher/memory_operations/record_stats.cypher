// Number of visible and hidden task records of each kind.
//
// mode: read
// row:  kind, active, hidden
MATCH (record:TaskRecord)
WHERE record.tenant_id = $tenant_id AND record.created_us IS NOT NULL
  AND ($project_id IS NULL OR record.project_id = $project_id)
WITH record.artifact_kind AS kind, record.hidden_reason IS NULL AS shown
RETURN kind, sum(CASE WHEN shown THEN 1 ELSE 0 END) AS active, sum(CASE WHEN shown THEN 0 ELSE 1 END) AS hidden
ORDER BY kind
