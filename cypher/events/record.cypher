// Create the new events of a batch with their chains and links, and the entities and relations that they mention.
//
// Sessions come in key order, their events in session order. Links and mentions inside the batch refer to events by
// position, which saves an index lookup for nodes just created; a chain that continues a stored event refers to it by
// key. Without hints, a store that was nearly empty when this was planned would read all events or links for each pair.
// $batch.admitted are keys of stored events from which nothing was learned so far; their positions follow those of new
// ones. Sessions are matched through the index on their keys alone, because it is the smallest.
//
// Entities come in key order, so that writers wait for each other instead of deadlocking; relations need no separate
// lock. The first write to an entity must not read what it sets: such a write would lock the node's relationships
// before the node, and would deadlock with a writer that holds the node and needs its relationships next. Spelling,
// type and confidence change rarely and are written only if they do. If a name has two types, the one with the higher
// rank in $batch.ranks is kept. Types without a rank come from field names of the data and rank above all others; of
// two such types, the one with fewer words is kept.
//
// mode: write
// row:  -
UNWIND $batch.sessions AS row
MATCH (session:Session {key: row.key, tenant_id: $tenant_id})
USING INDEX SEEK session:Session(key)
SET session += row.properties
WITH session, row
UNWIND row.events AS properties
CREATE (event:Event)-[:IN_SESSION {tenant_id: $tenant_id}]->(session)
SET event = properties
WITH collect(event) AS created
CALL () {
  MATCH (event:Event)
  WHERE event.key IN $batch.admitted AND event.tenant_id = $tenant_id
  WITH event
  ORDER BY event.key
  RETURN collect(event) AS admitted
}
WITH created + admitted AS events
CALL (events) {
  UNWIND $batch.next AS pair
  WITH events[pair[0]] AS earlier, events[pair[1]] AS later
  CREATE (earlier)-[:NEXT {tenant_id: $tenant_id}]->(later)
}
CALL (events) {
  UNWIND $batch.caused_by AS pair
  WITH events[pair[0]] AS event, events[pair[1]] AS cause
  CREATE (event)-[:CAUSED_BY {tenant_id: $tenant_id}]->(cause)
}
CALL (events) {
  UNWIND $batch.correlates_with AS pair
  WITH events[pair[0]] AS event, events[pair[1]] AS other
  CREATE (event)-[:CORRELATES_WITH {tenant_id: $tenant_id}]->(other)
}
CALL (events) {
  UNWIND $batch.answers AS pair
  WITH events[pair[0]] AS result, events[pair[1]] AS call
  CREATE (result)-[:ANSWERS {tenant_id: $tenant_id}]->(call)
}
CALL (events) {
  UNWIND $batch.about AS pair
  WITH events[pair[0]] AS feedback, events[pair[1]] AS target
  CREATE (feedback)-[:ABOUT {tenant_id: $tenant_id}]->(target)
}
CALL (events) {
  UNWIND $batch.named AS pair
  WITH events[pair[0]] AS event, pair[1] AS user_key
  MATCH (event)-[:IN_SESSION]->(session:Session)
  CREATE (event)-[:NAMES_USER {tenant_id: $tenant_id, user_key: user_key, time_us: event.time_us}]->(session)
}
CALL () {
  UNWIND $batch.unlinked AS pair
  MATCH (earlier:Event {key: pair[0], tenant_id: $tenant_id})-[next:NEXT]->(:Event {key: pair[1]})
  USING INDEX SEEK earlier:Event(key)
  DELETE next
}
CALL () {
  UNWIND $batch.joined AS pair
  MATCH (earlier:Event {key: pair[0], tenant_id: $tenant_id})
  USING INDEX SEEK earlier:Event(key)
  MATCH (later:Event {key: pair[1], tenant_id: $tenant_id})
  USING INDEX SEEK later:Event(key)
  CREATE (earlier)-[:NEXT {tenant_id: $tenant_id}]->(later)
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
    WITH entity, row, row.properties.type AS type
    WITH
      entity,
      row,
      CASE
        WHEN type = entity.type OR $batch.ranks[type] < coalesce($batch.ranks[entity.type], 3) THEN false
        WHEN $batch.ranks[type] IS NOT NULL OR $batch.ranks[entity.type] IS NOT NULL THEN true
        WHEN size(split(type, '_')) <> size(split(entity.type, '_'))
          THEN size(split(type, '_')) < size(split(entity.type, '_'))
        ELSE type < entity.type
      END AS ranks_higher
    WHERE row.properties.confidence > entity.confidence
      OR ranks_higher
      OR entity.status <> 'active'
      OR ANY(name IN row.names WHERE name <> entity.name AND NOT name IN entity.aliases)
    WITH entity, row, ranks_higher, COLLECT {
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
      entity.type = CASE WHEN ranks_higher THEN row.properties.type ELSE entity.type END
  }
  UNWIND row.events AS mention
  WITH entity, mention, events[mention[0]] AS event
  CREATE (event)-[:MENTIONS {
    tenant_id: $tenant_id,
    count: mention[1],
    role: mention[2],
    relations: mention[3]
  }]->(entity)
}
CALL () {
  UNWIND $batch.relations AS row
  MATCH (source:Entity {key: row.source_key, tenant_id: $tenant_id})
  MATCH (target:Entity {key: row.target_key, tenant_id: $tenant_id})
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
}
