// Memories: policies, preferences, facts and goals.
//
// What was stated, with its status and the number of events that state it.
//
// Erased memories, whose text is empty, are left out. A condition on the kind lets the planner use the index of tenant
// and kind.
//
// mode: read
// row:  kind, text, status, confidence, observations, evidence
MATCH (memory:Memory {tenant_id: $tenant_id})
WHERE memory.kind IS NOT NULL AND memory.text <> ''
RETURN
  memory.kind AS kind,
  memory.text AS text,
  memory.status AS status,
  memory.confidence AS confidence,
  memory.observation_count AS observations,
  COUNT { (memory)-[:EVIDENCED_BY]->(:Event) } AS evidence
ORDER BY kind, status, confidence DESC, memory.key
