// The semantic memories that a full-text question finds, with what decides whether they are shown, and the task records
// that rest on the same events.
//
// mode: read
// row:  memory, score, superseded_by, record_keys
CALL db.index.fulltext.queryNodes('knowledge_text', $question, {limit: $limit})
YIELD node AS memory, score
WHERE memory:Memory AND memory.tenant_id = $tenant_id
  AND ($kind IS NULL OR memory.kind = $kind)
  AND ($project_id IS NULL OR memory.project_id = $project_id)
OPTIONAL MATCH (successor:Memory)-[:SUPERSEDES]->(memory)
WITH memory, score, min(successor.memory_id) AS superseded_by
RETURN
  properties(memory) AS memory,
  score,
  superseded_by,
  COLLECT {
    MATCH (memory)-[:EVIDENCED_BY]->(:Event)<-[:EVIDENCED_BY]-(record:TaskRecord)
    RETURN DISTINCT record.key AS key ORDER BY key LIMIT 20
  } AS record_keys
ORDER BY score DESC, memory.memory_id
