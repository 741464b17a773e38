// For each memory, others in force of the same project from the same event or with a common tag that starts with
// "event:", at most $limit.
//
// To find those with a tag, all memories of the tenant are searched; this is done for tagged memories only. A condition
// on the time lets the planner use the index of tenant and time. As in memory_operations/search, proposals and memories
// of users outside the audience are returned only with $include_hidden.
//
// mode: read
// row:  key, siblings
CALL () {
  OPTIONAL MATCH (running:Session {key: $session_key})
  WHERE running.tenant_id = $tenant_id
  RETURN $owners + coalesce(running.user_keys, []) AS audience
}
MATCH (memory:Memory)
WHERE memory.key IN $batch.keys AND memory.tenant_id = $tenant_id
CALL (memory, audience) {
  CALL (memory) {
    MATCH (memory)-[:EVIDENCED_BY]->(:Event)<-[:EVIDENCED_BY]-(other:Memory)
    RETURN other
    UNION
    UNWIND [tag IN coalesce(memory.tags, []) WHERE tag STARTS WITH 'event:'] AS tag
    MATCH (other:Memory)
    WHERE other.tenant_id = $tenant_id AND other.first_us IS NOT NULL AND tag IN other.tags
    RETURN other
  }
  WITH DISTINCT other, memory, audience
  WHERE other <> memory AND coalesce(other.project_id, '') = coalesce(memory.project_id, '')
    AND other.status IN ['promoted', 'tentative']
    AND ($include_hidden OR (
      other.proposed IS NULL AND (other.owner_key IS NULL OR other.owner_key IN audience)
    ))
  ORDER BY other.first_us, other.key
  LIMIT $limit
  RETURN collect(other {.memory_id, .kind, .text, .tags}) AS siblings
}
RETURN memory.key AS key, siblings
ORDER BY key
