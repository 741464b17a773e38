// Count the remaining evidence of the memories that a page of erased events supported; blank those without any.
//
// A blank memory keeps its ids and times and leaves its chain, which is rebuilt from what remains; its conflicts are
// resolved. Memories are locked in key order, as by all writers, and counted after that: an earlier count may be stale.
//
// mode: write
// row:  key, memory_id, slot_key, lost
MATCH (memory:Memory)-[:EVIDENCED_BY]->(event:Event)
WHERE event.key IN $batch.event_keys AND event.tenant_id = $tenant_id AND memory.tenant_id = $tenant_id
WITH DISTINCT memory
ORDER BY memory.key
SET memory.tenant_id = $tenant_id
WITH memory
SET memory.observation_count = COUNT { (memory)-[:EVIDENCED_BY]->(live:Event) WHERE live.erased IS NULL }
WITH memory, memory.slot_key AS slot_key, memory.observation_count = 0 AS lost
CALL (memory, lost) {
  WITH memory, round(1 - (1 - memory.surest) ^ memory.observation_count, 6) AS confidence, lost
  WHERE NOT lost
  SET
    memory.confidence = confidence,
    memory.status = CASE WHEN memory.status = 'promoted' AND confidence < $sure THEN 'tentative' ELSE memory.status END
}
CALL (memory, lost) {
  WITH memory, lost
  WHERE NOT lost AND memory.unproven
  MATCH (memory)-[link:EVIDENCED_BY]->(event:Event)
  WHERE event.erased IS NULL
  WITH
    memory,
    count(DISTINCT event.session_key) AS sessions,
    count(DISTINCT CASE WHEN link.origin <> '' THEN link.origin END) AS origins
  SET
    memory.proposed = CASE WHEN sessions < $sessions OR origins < $origins THEN true ELSE null END,
    memory.status = CASE
      WHEN memory.status = 'promoted' AND (sessions < $sessions OR origins < $origins) THEN 'tentative'
      ELSE memory.status
    END
}
CALL (memory, lost) {
  WITH memory, lost
  WHERE lost
  CALL (memory) {
    MATCH (memory)-[link:SUPERSEDES]-(:Memory)
    DELETE link
  }
  CALL (memory) {
    MATCH (memory)-[link:MENTIONS]->(:Entity)
    DELETE link
  }
  CALL (memory) {
    MATCH (memory)<-[:BETWEEN]-(conflict:Conflict)
    SET
      conflict.reason = 'what a side said was erased',
      conflict.text = 'Conflict: what a side said was erased',
      conflict.resolved_us = CASE
        WHEN conflict.status = 'resolved' THEN conflict.resolved_us
        WHEN $at_us > conflict.detected_us THEN $at_us
        ELSE conflict.detected_us
      END,
      conflict.resolution = CASE conflict.status
        WHEN 'resolved' THEN conflict.resolution
        ELSE 'a side lost its evidence'
      END,
      conflict.status = 'resolved'
  }
  SET
    memory.text = '',
    memory.name = null,
    memory.search_text = '',
    memory.token_count = 0,
    memory.subject = null,
    memory.predicate = null,
    memory.object = null,
    memory.answer = null,
    memory.said_by = null,
    memory.owner = null,
    memory.slot_key = null,
    memory.head_key = null,
    memory.supersedes_key = null,
    memory.surest = 0.0,
    memory.confidence = 0.0,
    memory.status = 'deprecated',
    memory.reason = 'all evidence was erased',
    memory.valid_to_us = CASE
      WHEN memory.valid_to_us < $at_us THEN memory.valid_to_us
      WHEN $at_us > memory.valid_from_us THEN $at_us
      ELSE memory.valid_from_us
    END
}
RETURN memory.key AS key, memory.memory_id AS memory_id, slot_key, lost
ORDER BY memory_id
