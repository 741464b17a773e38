// Create records with everything that they name: tasks, runs, data sets, facets, challenges, contributors, entities,
// and links to the records that they reply to, supersede or relate to.
//
// Records come in the order in which they were submitted, and links refer to them by position. The tasks are locked by
// the caller. Nodes that many records share are merged in key order; the uniqueness of supersedes_key refuses a second
// successor of the same record. An entity that lost its name when everything that mentioned it was erased gets it back
// from a record; entities are locked by their first write, as in events/record.
//
// mode: write
// row:  -
UNWIND $batch.records AS properties
CREATE (record:TaskRecord)
SET record = properties
WITH collect(record) AS records
CALL (records) {
  UNWIND $batch.tasks AS row
  MERGE (task:Task {key: row.key})
  SET
    task += row.properties,
    task.tenant_id = $tenant_id,
    task.record_count = coalesce(task.record_count, 0) + size(row.uses)
  WITH task, row
  UNWIND row.uses AS use
  WITH task, records[use[0]] AS record
  CREATE (record)-[:ON_TASK {tenant_id: $tenant_id}]->(task)
}
CALL (records) {
  UNWIND $batch.parents AS row
  MERGE (parent:Task {key: row.key})
    ON CREATE SET parent.tenant_id = $tenant_id, parent.task_id = row.properties.task_id
  WITH parent, row
  UNWIND row.uses AS use
  WITH parent, records[use[0]] AS record
  MATCH (record)-[:ON_TASK]->(task:Task)
  MERGE (task)-[:PART_OF {tenant_id: $tenant_id}]->(parent)
}
CALL (records) {
  UNWIND $batch.runs AS row
  MERGE (run:Run {key: row.key})
  SET run += row.properties, run.tenant_id = $tenant_id
  WITH run, row
  UNWIND row.uses AS use
  WITH run, records[use[0]] AS record, use[1].own AS own
  MATCH (record)-[:ON_TASK]->(task:Task)
  MERGE (run)-[:PART_OF {tenant_id: $tenant_id}]->(task)
  WITH run, record, own
  WHERE own
  CREATE (record)-[:PART_OF {tenant_id: $tenant_id}]->(run)
}
CALL (records) {
  UNWIND $batch.datasets AS row
  MERGE (dataset:Dataset {key: row.key})
  SET dataset += row.properties, dataset.tenant_id = $tenant_id
  WITH dataset, row
  UNWIND row.uses AS use
  WITH dataset, records[use[0]] AS record, use[1] AS properties
  CREATE (record)-[used:USES_DATASET {tenant_id: $tenant_id}]->(dataset)
  SET used += properties
  WITH dataset, record
  MATCH (record)-[:ON_TASK]->(task:Task)
  MERGE (task)-[:USES_DATASET {tenant_id: $tenant_id}]->(dataset)
}
CALL (records) {
  UNWIND $batch.facets AS row
  MERGE (facet:Facet {key: row.key})
    ON CREATE SET facet.tenant_id = $tenant_id, facet.name = row.properties.name
  WITH facet, row
  UNWIND row.uses AS use
  WITH facet, row, records[use[0]] AS record
  CREATE (record)-[:HAS_FACET {tenant_id: $tenant_id, facet_key: row.key, created_us: record.created_us}]->(facet)
}
CALL (records) {
  UNWIND $batch.challenges AS row
  MERGE (challenge:Challenge {key: row.key})
    ON CREATE SET challenge.tenant_id = $tenant_id, challenge.challenge_id = row.properties.challenge_id
  WITH challenge, row
  UNWIND row.uses AS use
  WITH challenge, records[use[0]] AS record
  CREATE (record)-[:PART_OF {tenant_id: $tenant_id}]->(challenge)
}
CALL (records) {
  UNWIND $batch.contributors AS row
  MERGE (contributor:Contributor {key: row.key})
  SET contributor += row.properties, contributor.tenant_id = $tenant_id
  WITH contributor, row
  UNWIND row.uses AS use
  WITH contributor, records[use[0]] AS record, use[1] AS properties
  CREATE (record)-[share:CONTRIBUTED_BY {tenant_id: $tenant_id}]->(contributor)
  SET share += properties
}
CALL (records) {
  UNWIND $batch.replies AS pair
  MATCH (parent:TaskRecord {key: pair[1], tenant_id: $tenant_id})
  WITH parent, records[pair[0]] AS record
  CREATE (record)-[:REPLIES_TO {tenant_id: $tenant_id, relation_kind: record.relation_kind}]->(parent)
}
CALL (records) {
  UNWIND $batch.superseded AS pair
  MATCH (old:TaskRecord {key: pair[1], tenant_id: $tenant_id})
  WITH old, records[pair[0]] AS record
  CREATE (record)-[:SUPERSEDES {tenant_id: $tenant_id}]->(old)
  SET
    record.supersedes_key = old.key,
    old.superseded_by = record.artifact_id,
    old.hidden_reason = 'superseded',
    old.hidden_us = record.created_us,
    old.scope = old.scope + ' hidden'
}
CALL (records) {
  UNWIND $batch.related AS pair
  MATCH (other:TaskRecord {key: pair[1], tenant_id: $tenant_id})
  WITH other, records[pair[0]] AS record
  CREATE (record)-[:RELATED_TO {tenant_id: $tenant_id, relation_kind: coalesce(record.relation_kind, 'related_to')}]->(other)
}
CALL (records) {
  UNWIND $batch.entities AS row
  MERGE (entity:Entity {key: row.key})
    ON CREATE SET entity = row.properties, entity.key = row.key
  SET entity.tenant_id = $tenant_id
  SET
    entity.mention_count = entity.mention_count + size(row.uses),
    entity.first_us = CASE WHEN row.first_us < entity.first_us THEN row.first_us ELSE entity.first_us END,
    entity.last_us = CASE WHEN row.last_us > entity.last_us THEN row.last_us ELSE entity.last_us END
  WITH entity, row
  CALL (entity, row) {
    WITH entity, row
    WHERE entity.status <> 'active'
    SET
      entity.name = row.properties.name,
      entity.normalised = row.properties.normalised,
      entity.search_text = row.properties.search_text,
      entity.type = row.properties.type,
      entity.confidence = row.properties.confidence,
      entity.status = 'active'
  }
  UNWIND row.uses AS use
  WITH entity, records[use[0]] AS record, use[1] AS properties
  CREATE (record)-[mention:MENTIONS {tenant_id: $tenant_id, count: 1}]->(entity)
  SET mention += properties
}
