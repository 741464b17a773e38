// Merge the entities of a batch with their mentions, then the relations between them.
//
// Both lists come in key order: the first write locks each entity, so writers that meet wait for each other instead
// of deadlocking, and relations need no lock of their own. That write must not read what it sets: one that does takes
// the lock on the node's relationships before that on the node, and would hold the one that whoever has the node needs
// next for its mentions. Spelling, type and confidence change rarely; they are written only where they do. A type of
// higher rank says more of the same name ($batch.ranks). Mentions name their events, all stored just before, by
// position: looked for once, and before anything is locked, not once a mention.
//
// mode: write
// row:  mentioned, related
CALL () {
  UNWIND range(0, size($batch.event_keys) - 1) AS place
  MATCH (event:Event {key: $batch.event_keys[place]})
  WITH event
  ORDER BY place
  RETURN collect(event) AS events
}
CALL (events) {
  UNWIND $batch.entities AS row
  MERGE (entity:Entity {key: row.key})
    ON CREATE SET entity = row.properties
  SET entity.tenant_id = $tenant_id
  SET
    entity.mention_count = entity.mention_count + size(row.events),
    entity.first_us = CASE WHEN row.first_us < entity.first_us THEN row.first_us ELSE entity.first_us END,
    entity.last_us = CASE WHEN row.last_us > entity.last_us THEN row.last_us ELSE entity.last_us END
  WITH entity, row
  CALL (entity, row) {
    WITH entity, row
    WHERE row.properties.confidence > entity.confidence
      OR coalesce($batch.ranks[row.properties.type], 0) > coalesce($batch.ranks[entity.type], 0)
      OR entity.status <> 'active'
      OR ANY(name IN row.names WHERE name <> entity.name AND NOT name IN entity.aliases)
    WITH entity, row, COLLECT {
      UNWIND entity.aliases + [entity.name] + row.names AS name
      WITH DISTINCT name
      WHERE name <> ''
      ORDER BY name
      RETURN name
      LIMIT 9
    } AS names
    SET
      entity.name = head(names),
      entity.aliases = tail(names),
      entity.normalised = row.properties.normalised,
      entity.search_text = row.properties.search_text,
      entity.status = 'active',
      entity.confidence = CASE
        WHEN row.properties.confidence > entity.confidence THEN row.properties.confidence
        ELSE entity.confidence
      END,
      entity.type = CASE
        WHEN coalesce($batch.ranks[row.properties.type], 0) > coalesce($batch.ranks[entity.type], 0) THEN row.properties.type
        ELSE entity.type
      END
  }
  UNWIND row.events AS mention
  WITH entity, mention, events[mention[0]] AS event
  CREATE (event)-[:MENTIONS {
    tenant_id: $tenant_id,
    count: mention[1],
    role: mention[2],
    relations: mention[3]
  }]->(entity)
  RETURN count(*) AS mentioned
}
CALL () {
  UNWIND $batch.relations AS row
  MATCH (source:Entity {key: row.source_key})
  MATCH (target:Entity {key: row.target_key})
  MERGE (source)-[relation:RELATES_TO {relation_type: row.relation_type}]->(target)
    ON CREATE SET
      relation.tenant_id = $tenant_id,
      relation.status = 'active',
      relation.confidence = row.confidence,
      relation.evidence_count = 0,
      relation.first_us = row.first_us,
      relation.last_us = row.last_us
  SET
    relation.status = CASE WHEN relation.evidence_count = 0 THEN 'active' ELSE relation.status END,
    relation.confidence = CASE
      WHEN row.confidence > relation.confidence THEN row.confidence
      ELSE relation.confidence
    END,
    relation.evidence_count = relation.evidence_count + row.evidence,
    relation.first_us = CASE WHEN row.first_us < relation.first_us THEN row.first_us ELSE relation.first_us END,
    relation.last_us = CASE WHEN row.last_us > relation.last_us THEN row.last_us ELSE relation.last_us END
  SET relation.weight = round(toFloat(relation.evidence_count) / (relation.evidence_count + 1), 6)
  RETURN count(*) AS related
}
RETURN mentioned, related
