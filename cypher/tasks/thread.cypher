// The keys of a thread's first records, at most $limit, without digests, oldest first.
//
// mode: read
// row:  key
MATCH (record:TaskRecord)
WHERE record.tenant_id = $tenant_id AND record.thread_id = $thread_id AND record.artifact_kind <> 'digest' AND record.created_us IS NOT NULL
  AND ($include_hidden OR record.hidden_reason IS NULL)
WITH record
ORDER BY record.tenant_id, record.thread_id, record.created_us, record.sequence, record.key
LIMIT $limit
RETURN record.key AS key
ORDER BY record.created_us, record.sequence, key
