// Visible task records with the same task, kind and exact text, without digests.
//
// mode: read
// row:  task_id, artifact_kind, text, artifact_ids
MATCH (record:TaskRecord)
WHERE record.tenant_id = $tenant_id AND record.created_us IS NOT NULL AND record.artifact_kind <> 'digest'
  AND record.hidden_reason IS NULL AND ($project_id IS NULL OR record.project_id = $project_id)
WITH record
ORDER BY record.artifact_id
WITH record.task_id AS task_id, record.artifact_kind AS artifact_kind, record.text AS text,
  collect(record.artifact_id) AS artifact_ids
WHERE size(artifact_ids) > 1
RETURN task_id, artifact_kind, text, artifact_ids
ORDER BY size(artifact_ids) DESC, task_id, artifact_kind, text
