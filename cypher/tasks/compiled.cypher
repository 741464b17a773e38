// Compiled artifacts of given types in force, those with evidence from task work first.
//
// Without the hint the planner reads all task records while there are few; the event is matched separately for the same
// reason.
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
