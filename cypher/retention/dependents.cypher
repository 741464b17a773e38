// The artifacts in force, task records, memories, entities and relations that depend on a page of events, with the
// amount of their live evidence, and how much of it is in the page (chosen); both are 1 for a task record. Compiled
// artifacts are left out: they are blanked with any of their evidence (retention/compiled_from).
//
// Without the hints the planner starts from all task records while there are few. The evidence of memories, entities
// and relations is read from their counters, because parts of it may be in nearly every page.
//
// mode: read
// row:  kind, id, chosen, live
CALL () {
  MATCH (record:Artifact)-[:EVIDENCED_BY]->(event:Event)
  USING INDEX SEEK event:Event(key)
  WHERE event.key IN $batch.event_keys AND event.tenant_id = $tenant_id AND record.status IN ['draft', 'active']
    AND NOT (record.agent_id = $compiler AND record.lineage_key STARTS WITH $lineages)
  WITH record, count(event) AS chosen
  RETURN
    'artifact' AS kind,
    record.artifact_id AS id,
    chosen,
    COUNT { (record)-[:EVIDENCED_BY]->(live:Event) WHERE live.erased IS NULL } AS live
  UNION ALL
  MATCH (record:TaskRecord)-[:EVIDENCED_BY]->(event:Event)
  USING INDEX SEEK event:Event(key)
  WHERE event.key IN $batch.event_keys AND event.tenant_id = $tenant_id AND record.erased IS NULL
  RETURN DISTINCT 'record' AS kind, record.artifact_id AS id, 1 AS chosen, 1 AS live
  UNION ALL
  MATCH (record:Memory)-[:EVIDENCED_BY]->(event:Event)
  USING INDEX SEEK event:Event(key)
  WHERE event.key IN $batch.event_keys AND event.tenant_id = $tenant_id AND record.text <> ''
  WITH record, count(event) AS chosen
  RETURN
    'memory' AS kind,
    record.memory_id AS id,
    chosen,
    record.observation_count AS live
  UNION ALL
  MATCH (event:Event)-[:MENTIONS]->(entity:Entity)
  USING INDEX SEEK event:Event(key)
  WHERE event.key IN $batch.event_keys AND event.tenant_id = $tenant_id
  WITH entity, count(event) AS chosen
  RETURN
    'entity' AS kind,
    entity.key AS id,
    chosen,
    entity.mention_count AS live
  UNION ALL
  MATCH (entity:Entity)<-[mention:MENTIONS]-(record:TaskRecord)-[:EVIDENCED_BY]->(event:Event)
  USING INDEX SEEK event:Event(key)
  WHERE event.key IN $batch.event_keys AND event.tenant_id = $tenant_id
  WITH entity, count(DISTINCT mention) AS chosen
  RETURN
    'entity' AS kind,
    entity.key AS id,
    chosen,
    entity.mention_count AS live
  UNION ALL
  MATCH (event:Event)-[mention:MENTIONS]->(entity:Entity)
  USING INDEX SEEK event:Event(key)
  WHERE event.key IN $batch.event_keys AND event.tenant_id = $tenant_id
  UNWIND coalesce(mention.relations, []) AS mark
  WITH entity, mark, count(*) AS chosen
  MATCH (entity)-[relation:RELATES_TO]->(target:Entity)
  WHERE relation.relation_type + '>' + left(target.key, 16) = mark
  RETURN
    'relation' AS kind,
    entity.key + '.' + relation.relation_type + '.' + target.key AS id,
    chosen,
    relation.evidence_count AS live
}
RETURN kind, id, chosen, live
ORDER BY kind, id
