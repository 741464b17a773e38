// Parameters to start with.
//
// One row: a value for each parameter of the other queries except $embedding, from the tenant's own data: the newest
// session with several events (else the newest), the best connected entity, the artifact with the most evidence up to
// sixty sources, the newest thread, and the day before the latest change of knowledge.
//
// Memory operations and maintenance have their own sessions and thread, in which no agent worked. These sessions are
// chosen only if no other has several events, the thread only if there is no other. Conditions on properties that
// always exist let the planner use their indexes.
//
// mode: read
// row:  tenant_id, tenant_key, session_id, name, artifact_id, prefix, source_ids, thread_id, since, days
OPTIONAL MATCH (tenant:Tenant {key: $tenant_key, tenant_id: $tenant_id})
WITH
  tenant,
  COLLECT {
    MATCH (session:Session {tenant_id: $tenant_id})
    WHERE session.changed_version IS NOT NULL
    RETURN session.session_id
    ORDER BY
      session.event_count > 1 AND NOT session.session_id IN ['memory-operations', 'task:memory-maintenance'] DESC,
      session.last_us DESC,
      session.session_id
    LIMIT 1
  } AS sessions,
  COLLECT {
    MATCH (entity:Entity {tenant_id: $tenant_id, status: 'active'})
    WHERE entity.type IS NOT NULL
    RETURN entity.name
    ORDER BY COUNT { (entity)-[:RELATES_TO {status: 'active'}]-() } DESC, entity.key
    LIMIT 1
  } AS names,
  COLLECT {
    MATCH (artifact:Artifact {tenant_id: $tenant_id, status: 'active'})
    WITH artifact.artifact_id AS artifact_id, COUNT { (artifact)-[:EVIDENCED_BY]->() } AS sources
    RETURN artifact_id
    ORDER BY CASE WHEN sources <= 60 THEN sources ELSE -sources END DESC, artifact_id
    LIMIT 1
  } AS artifact_ids,
  COLLECT {
    MATCH (record:TaskRecord {tenant_id: $tenant_id})
    WHERE record.thread_id IS NOT NULL AND record.created_us IS NOT NULL
    RETURN record.thread_id
    ORDER BY record.thread_id <> 'memory-maintenance' DESC, record.created_us DESC, record.key
    LIMIT 1
  } AS threads,
  COLLECT {
    MATCH (artifact:Artifact {tenant_id: $tenant_id})
    WHERE artifact.recorded_us IS NOT NULL
    RETURN max(artifact.status_times[-1])
  } AS changes
RETURN
  $tenant_id AS tenant_id,
  $tenant_key AS tenant_key,
  coalesce(head(sessions), '') AS session_id,
  coalesce(head(names), '') AS name,
  coalesce(head(artifact_ids), '') AS artifact_id,
  left(coalesce(head(artifact_ids), ''), 8) AS prefix,
  artifact_ids AS source_ids,
  coalesce(head(threads), '') AS thread_id,
  toString(datetime({epochMillis: coalesce(head(changes), tenant.logical_us, 0) / 1000}) - duration('P1D')) AS since,
  0 AS days
