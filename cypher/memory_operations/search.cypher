// The semantic memories that a full-text question finds, with what decides whether they are shown, and the task records
// that rest on the same events: one row. looked_at tells how much the index answered: where that is $limit, it may have
// more. The index knows no kinds and projects, and artifacts stand in it too.
//
// Proposals, and what is bound to a user outside the audience ($owners and the users of the running session), are found
// with $include_hidden only.
//
// mode: read
// row:  looked_at, memories
CALL () {
  OPTIONAL MATCH (running:Session {key: $session_key})
  WHERE running.tenant_id = $tenant_id
  RETURN $owners + coalesce(running.user_keys, []) AS audience
}
CALL () {
  CALL db.index.fulltext.queryNodes('knowledge_text', $question, {limit: $limit})
  YIELD node, score
  RETURN
    count(*) AS looked_at,
    collect(CASE WHEN node.tenant_id = $tenant_id THEN [node, score] END) AS hits
}
RETURN
  looked_at,
  COLLECT {
    UNWIND hits AS hit
    WITH hit[0] AS memory, hit[1] AS score
    WHERE memory:Memory
      AND ($kind IS NULL OR memory.kind = $kind)
      AND ($include_hidden OR (
        memory.proposed IS NULL AND (memory.owner_key IS NULL OR memory.owner_key IN audience)
      ))
      AND ($project_id IS NULL OR memory.project_id = $project_id)
    OPTIONAL MATCH (successor:Memory)-[:SUPERSEDES]->(memory)
    WITH memory, score, min(successor.memory_id) AS superseded_by
    RETURN {
      memory: properties(memory),
      score: score,
      superseded_by: superseded_by,
      said: head(COLLECT {
        MATCH (memory)-[:EVIDENCED_BY]->(event:Event)
        WHERE event.erased IS NULL
        RETURN event {.label, .source}
        ORDER BY event.time_us DESC, event.event_id DESC
        LIMIT 1
      }),
      record_keys: COLLECT {
        MATCH (memory)-[:EVIDENCED_BY]->(:Event)<-[:EVIDENCED_BY]-(record:TaskRecord)
        RETURN DISTINCT record.key AS key ORDER BY key LIMIT 20
      }
    }
    ORDER BY score DESC, memory.memory_id
  } AS memories
