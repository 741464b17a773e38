// The keys of a task's newest records, at most $limit, without digests, oldest first.
//
// mode: read
// row:  key
MATCH (record:TaskRecord)
WHERE record.tenant_id = $tenant_id AND record.task_id = $task_id AND record.created_us IS NOT NULL
  AND record.artifact_kind <> 'digest' AND ($include_hidden OR record.hidden_reason IS NULL)
WITH record
ORDER BY
  record.tenant_id DESC, record.task_id DESC, record.created_us DESC, record.sequence DESC, record.key DESC
LIMIT $limit
RETURN record.key AS key
ORDER BY record.created_us, record.sequence, key
