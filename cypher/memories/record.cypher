// Merge the memories of a batch with their evidence and the entities they are about.
//
// An answer to a question that has one answer at a time comes with its position in the chain: when it ceased to hold
// and what it supersedes. Stored rows come before new ones, so that the unique keys head_key and supersedes_key are
// given up before they are taken; the edges are made once all nodes exist. Confidence depends only on the surest rule
// and the number of observations, whatever their order. A memory that was retired by hand, or lost a conflict, stays
// retired, however often it is stated; one that had lost its evidence is in force again. When an answer of the chain
// ends, a memory outside the chain that contradicts it ends too, and so does their conflict, even if it was resolved by
// keeping both. The first write locks each memory, as in events/record.
//
// Planner: the count of merged memories ends the first part; without it, four more Eager steps are planned.
//
// mode: write
// row:  -
CALL () {
  UNWIND $batch.memories AS row
  MERGE (memory:Memory {key: row.key})
    ON CREATE SET memory = row.properties
  SET memory.tenant_id = $tenant_id
  WITH
    memory,
    row,
    memory.text <> '' AND (
      coalesce(memory.retired, false)
      OR memory.status = 'contradicted'
      OR (memory.status = 'deprecated' AND (memory.slot_key IS NULL OR memory.head_key IS NOT NULL))
    ) AS retired
  SET
    memory.retired = CASE WHEN retired THEN true ELSE null END,
    memory.text = CASE WHEN memory.text = '' THEN row.properties.text ELSE memory.text END,
    memory.search_text = CASE
      WHEN row.given.aliases IS NOT NULL THEN row.given.search_text
      WHEN memory.search_text = '' THEN row.properties.search_text
      ELSE memory.search_text
    END,
    memory.extraction_method = CASE
      WHEN row.properties.extraction_method = 'remembered' THEN 'remembered'
      ELSE memory.extraction_method
    END,
    memory.hard = CASE WHEN row.properties.hard THEN true ELSE memory.hard END,
    memory.pinned = CASE WHEN row.given IS NULL THEN memory.pinned ELSE row.given.pinned END,
    memory.expires_us = CASE WHEN row.given IS NULL THEN memory.expires_us ELSE row.given.expires_us END,
    memory.aliases = coalesce(row.given.aliases, memory.aliases),
    memory.surest = CASE WHEN row.properties.surest > memory.surest THEN row.properties.surest ELSE memory.surest END,
    memory.observation_count = memory.observation_count + size(row.event_keys),
    memory.first_us = CASE WHEN row.first_us < memory.first_us THEN row.first_us ELSE memory.first_us END,
    memory.last_us = CASE WHEN row.last_us > memory.last_us THEN row.last_us ELSE memory.last_us END
  SET
    memory.name = left(memory.text, 60),
    memory.valid_from_us = memory.first_us,
    memory.confidence = round(1 - (1 - memory.surest) ^ memory.observation_count, 6),
    memory.valid_to_us = CASE WHEN retired THEN memory.valid_to_us ELSE row.ends_us END,
    memory.reason = CASE WHEN retired THEN memory.reason ELSE null END
  SET memory.status = CASE
    WHEN retired THEN memory.status
    WHEN row.ends_us IS NOT NULL THEN 'deprecated'
    WHEN memory.confidence >= $sure THEN 'promoted'
    ELSE 'tentative'
  END
  WITH memory, row
  CALL (memory, row) {
    WITH memory, row
    WHERE row.chained
    SET memory.head_key = row.head_key, memory.supersedes_key = row.supersedes_key
  }
  CALL (memory, row) {
    UNWIND row.event_keys AS event_key
    MATCH (event:Event {key: event_key, tenant_id: $tenant_id})
    CREATE (memory)-[:EVIDENCED_BY {tenant_id: $tenant_id, origin: row.origins[event_key]}]->(event)
  }
  CALL (memory) {
    WITH memory
    WHERE memory.unproven
    MATCH (memory)-[link:EVIDENCED_BY]->(event:Event)
    WHERE event.erased IS NULL
    WITH
      memory,
      count(DISTINCT event.session_key) AS sessions,
      count(DISTINCT CASE WHEN link.origin <> '' THEN link.origin END) AS origins
    SET memory.proposed = CASE WHEN sessions < $sessions OR origins < $origins THEN true ELSE null END
    SET memory.status = CASE
      WHEN memory.status IN ['promoted', 'tentative'] THEN
        CASE WHEN memory.proposed OR memory.confidence < $sure THEN 'tentative' ELSE 'promoted' END
      ELSE memory.status
    END
  }
  CALL (memory, row) {
    UNWIND row.entity_keys AS entity_key
    MATCH (entity:Entity {key: entity_key, tenant_id: $tenant_id})
    MERGE (memory)-[mention:MENTIONS]->(entity)
      ON CREATE SET mention.tenant_id = $tenant_id, mention.count = 1
  }
  RETURN count(*) AS merged
}
CALL () {
  UNWIND $batch.memories AS row
  WITH row
  WHERE row.chained
  MATCH (memory:Memory {key: row.key, tenant_id: $tenant_id})
  CALL (memory, row) {
    MATCH (memory)-[link:SUPERSEDES]->(older:Memory)
    WHERE older.key <> coalesce(row.supersedes_key, '')
    DELETE link
  }
  CALL (memory, row) {
    MATCH (older:Memory {key: row.supersedes_key, tenant_id: $tenant_id})
    MERGE (memory)-[link:SUPERSEDES]->(older)
      ON CREATE SET link.tenant_id = $tenant_id
  }
  CALL (memory, row) {
    MATCH (memory)<-[:BETWEEN]-(conflict:Conflict)-[:BETWEEN]->(other:Memory)
    WHERE row.ends_us IS NOT NULL
      AND other.slot_key IS NULL
      AND (conflict.status = 'open' OR other.status IN ['promoted', 'tentative'])
    SET
      conflict.resolved_us = CASE
        WHEN conflict.status = 'resolved' THEN conflict.resolved_us
        WHEN row.ends_us > conflict.detected_us THEN row.ends_us
        ELSE conflict.detected_us
      END,
      conflict.resolution = CASE conflict.status
        WHEN 'resolved' THEN conflict.resolution
        ELSE 'a later answer took the place of both'
      END,
      conflict.status = 'resolved',
      other.status = 'deprecated',
      other.valid_to_us = row.ends_us
  }
}
