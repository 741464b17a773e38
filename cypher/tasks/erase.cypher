// Remove everything from records except key, ids, hash, kind, time and thread, so that replies, chains and replays
// still find them. One row: the records, and the keys of the entities that nothing mentions any more.
//
// Whatever other nodes took from them is removed too: a task's goal, a run's command, and facets, data sets,
// challenges, contributors and entities that no other record names. A task keeps its project while it has a record with
// content. The tasks and sessions are locked before, each entity by its first write, as in events/record.
//
// mode: write
// row:  records, entities
MATCH (record:TaskRecord)
WHERE record.key IN $batch.keys AND record.tenant_id = $tenant_id
WITH record
ORDER BY record.key
WITH collect(record) AS records
CALL (records) {
  UNWIND records AS record
  MATCH (record)-[:ON_TASK]->(task:Task)
  FOREACH (_ IN CASE record.artifact_role WHEN 'claim' THEN [1] ELSE [] END |
    SET task.assignee = null, task.assignee_key = null, task.lease_until_us = null
  )
  SET
    task.goal = CASE record.artifact_kind WHEN 'task_start' THEN '' ELSE task.goal END,
    task.agent_id = CASE record.artifact_kind WHEN 'task_start' THEN null ELSE task.agent_id END,
    task.status = CASE
      WHEN record.artifact_kind <> 'task_finish' OR task.status IN $plain_statuses THEN task.status
      ELSE 'finished'
    END
}
CALL (records) {
  UNWIND records AS record
  MATCH (record)-[:PART_OF]->(run:Run)
  SET
    run.command = CASE record.artifact_kind WHEN 'run_start' THEN null ELSE run.command END,
    run.tool_name = CASE record.artifact_kind WHEN 'run_start' THEN null ELSE run.tool_name END,
    run.agent_id = CASE record.artifact_kind WHEN 'run_start' THEN null ELSE run.agent_id END,
    run.status = CASE
      WHEN record.artifact_kind <> 'run_finish' OR run.status IN $plain_statuses THEN run.status
      ELSE 'finished'
    END
}
CALL (records) {
  UNWIND records AS record
  MATCH (record)-[edge:USES_DATASET|CONTRIBUTED_BY|PART_OF]->(reference:Dataset|Contributor|Challenge)
  WITH reference, collect(edge) AS edges
  ORDER BY reference.key
  FOREACH (edge IN edges | DELETE edge)
  RETURN collect(reference) AS references
}
CALL (records) {
  UNWIND records AS record
  MATCH (record)-[link:HAS_FACET]->(facet:Facet)
  WITH facet, collect(link) AS links
  ORDER BY facet.key
  FOREACH (link IN links | DELETE link)
  WITH facet
  WHERE NOT EXISTS { (facet)<-[:HAS_FACET]-() }
  DELETE facet
}
CALL (references) {
  UNWIND references AS reference
  MATCH (reference)<-[use:USES_DATASET]-(task:Task)
  WHERE NOT EXISTS { (reference)<-[:USES_DATASET]-(:TaskRecord)-[:ON_TASK]->(task) }
  DELETE use
}
CALL (references) {
  UNWIND references AS reference
  SET
    reference.description = head(COLLECT {
      MATCH (reference)<-[use:USES_DATASET]-(other:TaskRecord)
      WHERE use.description IS NOT NULL
      RETURN use.description ORDER BY other.created_us DESC, other.key LIMIT 1
    }),
    reference.display_name = head(COLLECT {
      MATCH (reference)<-[share:CONTRIBUTED_BY]-(other:TaskRecord)
      WHERE share.display_name IS NOT NULL
      RETURN share.display_name ORDER BY other.created_us DESC, other.key LIMIT 1
    })
}
CALL (references) {
  UNWIND references AS reference
  WITH reference
  WHERE NOT EXISTS { (reference)<-[:USES_DATASET|CONTRIBUTED_BY|PART_OF]-(:TaskRecord) }
  DETACH DELETE reference
}
CALL (records) {
  UNWIND records AS record
  MATCH (record)-[mention:MENTIONS]->(entity:Entity)
  WITH entity, collect(mention) AS mentions
  ORDER BY entity.key
  SET entity.tenant_id = $tenant_id
  SET entity.mention_count = entity.mention_count - size(mentions)
  FOREACH (mention IN mentions | DELETE mention)
  RETURN collect(entity) AS mentioned
}
CALL (mentioned) {
  UNWIND mentioned AS entity
  WITH entity
  WHERE NOT EXISTS { (entity)<-[:MENTIONS]-() }
  SET
    entity.name = '',
    entity.normalised = '',
    entity.aliases = [],
    entity.search_text = '',
    entity.mention_count = 0,
    entity.status = 'deprecated'
  RETURN collect(entity.key) AS entities
}
CALL (records) {
  UNWIND records AS record
  MATCH (record)-[reply:REPLIES_TO|RELATED_TO]->()
  SET reply.relation_kind = null
}
CALL (records) {
  UNWIND records AS record
  SET record = {
    key: record.key,
    tenant_id: record.tenant_id,
    artifact_id: record.artifact_id,
    artifact_kind: record.artifact_kind,
    task_id: record.task_id,
    thread_id: record.thread_id,
    reply_to_artifact_id: record.reply_to_artifact_id,
    created_us: record.created_us,
    sequence: record.sequence,
    record_hash: record.record_hash,
    superseded_by: record.superseded_by,
    supersedes_key: record.supersedes_key,
    document: $batch.documents[record.key],
    facets: [],
    tags: [],
    projection_kinds: [],
    projection_texts: [],
    text: '',
    token_count: 0,
    hidden_us: coalesce(record.hidden_us, $at_us),
    hidden_reason: 'erased',
    erased: true
  }
}
CALL (records) {
  UNWIND records AS record
  MATCH (record)-[:ON_TASK]->(task:Task)
  WHERE NOT EXISTS {
    (task)<-[:ON_TASK]-(other:TaskRecord) WHERE other.erased IS NULL AND other.artifact_kind <> 'digest'
  }
  SET task.project_id = null
}
RETURN [record IN records | record.artifact_id] AS records, entities
