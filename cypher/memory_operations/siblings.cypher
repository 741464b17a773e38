// For each memory the others of the same event, or with the same event tag, of the same project.
//
// mode: read
// row:  key, siblings
MATCH (memory:Memory)
WHERE memory.key IN $batch.keys AND memory.tenant_id = $tenant_id
CALL (memory) {
  MATCH (memory)-[:EVIDENCED_BY]->(:Event)<-[:EVIDENCED_BY]-(other:Memory)
  WHERE other <> memory AND coalesce(other.project_id, '') = coalesce(memory.project_id, '')
    AND other.status IN ['promoted', 'tentative']
  WITH DISTINCT other
  ORDER BY other.first_us, other.key
  LIMIT $limit
  RETURN collect(other {.memory_id, .kind, .text, .tags}) AS siblings
}
RETURN memory.key AS key, siblings
ORDER BY key
