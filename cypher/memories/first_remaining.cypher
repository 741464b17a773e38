// The first remaining observation of memories that lost some evidence: their wording is taken from it.
//
// mode: read
// row:  memory, event
MATCH (memory:Memory)
WHERE memory.key IN $batch.keys AND memory.tenant_id = $tenant_id
CALL (memory) {
  MATCH (memory)-[:EVIDENCED_BY]->(event:Event)
  WHERE event.erased IS NULL
  RETURN event
  ORDER BY event.time_us, event.key
  LIMIT 1
}
RETURN
  memory {.key, .kind, .text, .subject, .predicate, .object, .answer, .owner, .unproven, .scopes} AS memory,
  event {
    .hmx_version, .event_id, .event_type, .agent_id, .tenant_id, .session_id, .timestamp, .sequence, .content,
    .metadata, .trace_id, .correlation_id, .parent_event_id, .embeddings, .salience, .salience_origin, .source,
    .provenance_ref, .tags, .ttl_seconds
  } AS event
ORDER BY memory.key
