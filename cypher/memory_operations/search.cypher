// The semantic memories that a full-text query finds, with the properties that decide whether they are shown, and the
// task records with the same events as evidence: one row. hit_count is the number of hits of the index: if that is
// $limit, there may be more. The index has no kinds and projects, and it contains artifacts too.
//
// Proposals, and memories of users outside the audience ($owners and the users of the running session), are found only
// with $include_hidden.
//
// mode: read
// row:  hit_count, memories
CALL () {
  OPTIONAL MATCH (running:Session {key: $session_key})
  WHERE running.tenant_id = $tenant_id
  RETURN $owners + coalesce(running.user_keys, []) AS audience
}
CALL () {
  CALL db.index.fulltext.queryNodes('knowledge_text', $question, {limit: $limit})
  YIELD node, score
  RETURN
    count(*) AS hit_count,
    collect(CASE WHEN node.tenant_id = $tenant_id THEN [node, score] END) AS hits
}
RETURN
  hit_count,
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
      last_event: head(COLLECT {
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
