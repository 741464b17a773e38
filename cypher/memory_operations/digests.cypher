// The visible digests of $project_id, or all if it is null, with key, age and staleness, by which duplicates are found.
//
// mode: read
// row:  key, artifact_id, digest_key, artifact_role, scope_id, stale, source_updated_at_ms
MATCH (digest:TaskRecord {tenant_id: $tenant_id, artifact_kind: 'digest'})
WHERE digest.created_us IS NOT NULL AND digest.hidden_reason IS NULL
  AND ($project_id IS NULL OR digest.project_id = $project_id)
RETURN
  digest.key AS key,
  digest.artifact_id AS artifact_id,
  digest.digest_key AS digest_key,
  digest.artifact_role AS artifact_role,
  digest.task_id AS scope_id,
  coalesce(digest.stale, false) AS stale,
  coalesce(digest.source_updated_at_ms, 0) AS source_updated_at_ms
ORDER BY digest_key, key
