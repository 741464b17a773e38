// Compiled artifacts of given types that hold, those that task work gave evidence for first.
//
// The planner would go through all task records there are while they are few: hence the hint, and the event asked apart.
//
// mode: read
// row:  artifact_id, artifact_type, title, summary, confidence, from_task_work
MATCH (artifact:Artifact)
USING INDEX SEEK artifact:Artifact(tenant_id, status)
WHERE artifact.tenant_id = $tenant_id AND artifact.status = 'active' AND artifact.artifact_type IN $batch.types
WITH
  artifact,
  EXISTS {
    (artifact)-[:EVIDENCED_BY]->(event:Event)
    WHERE EXISTS { (event)<-[:EVIDENCED_BY]-(:TaskRecord) }
  } AS from_task_work
ORDER BY from_task_work DESC, artifact.confidence DESC, artifact.artifact_id
LIMIT $limit
RETURN
  artifact.artifact_id AS artifact_id,
  artifact.artifact_type AS artifact_type,
  artifact.title AS title,
  artifact.summary AS summary,
  artifact.confidence AS confidence,
  from_task_work
ORDER BY from_task_work DESC, confidence DESC, artifact_id
