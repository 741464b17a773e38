// Create a record with everything that it names: task, runs, data sets, facets, challenge, contributors, entities, and
// the records that it replies to, supersedes or relates to.
//
// The task is locked by the caller. Nodes that many records share are merged in key order; the uniqueness of
// supersedes_key refuses a second successor of the same record. An entity that lost its name when everything that
// mentioned it was erased gets it back from the record; entities are locked by their first write, as in events/record.
//
// mode: write
// row:  artifact_id
MERGE (task:Task {key: $batch.task.key})
SET task += $batch.task.properties, task.tenant_id = $tenant_id, task.record_count = coalesce(task.record_count, 0) + 1
CREATE (record:TaskRecord)-[:ON_TASK {tenant_id: $tenant_id}]->(task)
SET record = $batch.record
WITH record, task
CALL (task) {
  UNWIND $batch.parents AS row
  MERGE (parent:Task {key: row.key})
    ON CREATE SET parent.tenant_id = $tenant_id, parent.task_id = row.task_id
  MERGE (task)-[:PART_OF {tenant_id: $tenant_id}]->(parent)
}
CALL (record, task) {
  UNWIND $batch.runs AS row
  MERGE (run:Run {key: row.key})
  SET run += row.properties, run.tenant_id = $tenant_id
  MERGE (run)-[:PART_OF {tenant_id: $tenant_id}]->(task)
  WITH run, row
  WHERE row.own
  CREATE (record)-[:PART_OF {tenant_id: $tenant_id}]->(run)
}
CALL (record, task) {
  UNWIND $batch.datasets AS row
  MERGE (dataset:Dataset {key: row.key})
  SET dataset += row.properties, dataset.tenant_id = $tenant_id
  CREATE (record)-[use:USES_DATASET {tenant_id: $tenant_id}]->(dataset)
  SET use += row.use
  MERGE (task)-[:USES_DATASET {tenant_id: $tenant_id}]->(dataset)
}
CALL (record) {
  UNWIND $batch.facets AS row
  MERGE (facet:Facet {key: row.key})
    ON CREATE SET facet.tenant_id = $tenant_id, facet.name = row.name
  CREATE (record)-[:HAS_FACET {tenant_id: $tenant_id, facet_key: row.key, created_us: record.created_us}]->(facet)
}
CALL (record) {
  UNWIND $batch.challenges AS row
  MERGE (challenge:Challenge {key: row.key})
    ON CREATE SET challenge.tenant_id = $tenant_id, challenge.challenge_id = row.challenge_id
  CREATE (record)-[:PART_OF {tenant_id: $tenant_id}]->(challenge)
}
CALL (record) {
  UNWIND $batch.contributors AS row
  MERGE (contributor:Contributor {key: row.key})
  SET contributor += row.properties, contributor.tenant_id = $tenant_id
  CREATE (record)-[share:CONTRIBUTED_BY {tenant_id: $tenant_id}]->(contributor)
  SET share += row.share
}
CALL (record) {
  UNWIND $batch.replies AS key
  MATCH (parent:TaskRecord {key: key, tenant_id: $tenant_id})
  CREATE (record)-[:REPLIES_TO {tenant_id: $tenant_id, relation_kind: record.relation_kind}]->(parent)
}
CALL (record) {
  UNWIND $batch.superseded AS key
  MATCH (old:TaskRecord {key: key, tenant_id: $tenant_id})
  CREATE (record)-[:SUPERSEDES {tenant_id: $tenant_id}]->(old)
  SET
    record.supersedes_key = key,
    old.superseded_by = record.artifact_id,
    old.hidden_reason = 'superseded',
    old.hidden_us = record.created_us,
    old.scope = old.scope + ' hidden'
}
CALL (record) {
  UNWIND $batch.related AS key
  MATCH (other:TaskRecord {key: key, tenant_id: $tenant_id})
  CREATE (record)-[:RELATED_TO {tenant_id: $tenant_id, relation_kind: coalesce(record.relation_kind, 'related_to')}]->(other)
}
CALL (record) {
  UNWIND $batch.entities AS row
  MERGE (entity:Entity {key: row.key})
    ON CREATE SET entity = row.properties, entity.key = row.key
  SET entity.tenant_id = $tenant_id
  SET
    entity.mention_count = entity.mention_count + 1,
    entity.first_us = CASE WHEN row.properties.first_us < entity.first_us THEN row.properties.first_us ELSE entity.first_us END,
    entity.last_us = CASE WHEN row.properties.last_us > entity.last_us THEN row.properties.last_us ELSE entity.last_us END
  WITH record, entity, row
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
  CREATE (record)-[mention:MENTIONS {tenant_id: $tenant_id, count: 1}]->(entity)
  SET mention += row.mention
}
RETURN record.artifact_id AS artifact_id
