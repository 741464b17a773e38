// Remove the mentions of a page of erased events: decrement the counts of entities and relations, in key order like all
// writers. The first write locks each entity, as in events/record.
//
// A mention names the relations that its event was evidence for, so relations need not list their events. A relation
// without evidence is deprecated, and conflicts about it are blanked and resolved; an entity that nothing mentions any
// more is deprecated and loses its name. Other entities lose the spellings that no remaining mention has, and if none
// is left use the normalised one; entities with more than 1,000 mentions keep all spellings.
//
// mode: write
// row:  entities, relations
MATCH (entity:Entity)<-[mention:MENTIONS]-(event:Event)
WHERE event.key IN $batch.event_keys AND event.tenant_id = $tenant_id AND entity.tenant_id = $tenant_id
WITH entity, collect(mention) AS mentions
ORDER BY entity.key
SET entity.tenant_id = $tenant_id
SET entity.mention_count = entity.mention_count - size(mentions)
WITH collect([entity, mentions]) AS entity_mentions
CALL (entity_mentions) {
  UNWIND entity_mentions AS pair
  WITH pair[0] AS source, pair[1] AS mentions
  UNWIND mentions AS mention
  UNWIND coalesce(mention.relations, []) AS mark
  WITH source, mark, count(*) AS evidence
  MATCH (source)-[relation:RELATES_TO]->(target:Entity)
  WHERE relation.relation_type + '>' + left(target.key, 16) = mark
  SET relation.evidence_count = relation.evidence_count - evidence
  SET
    relation.weight = round(toFloat(relation.evidence_count) / (relation.evidence_count + 1), 6),
    relation.status = CASE WHEN relation.evidence_count > 0 THEN relation.status ELSE 'deprecated' END
  WITH source, relation, target
  WHERE relation.evidence_count = 0
  CALL (source, relation, target) {
    MATCH (source)<-[:BETWEEN]-(conflict:Conflict)
    WHERE '["' + source.key + '","' + relation.relation_type + '","' + target.key + '"]' IN conflict.relations
    SET
      conflict.reason = 'what a side said was erased',
      conflict.text = 'Conflict: what a side said was erased',
      conflict.relation_texts = ['[erased]', '[erased]'],
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
  RETURN collect(source.key + '.' + relation.relation_type + '.' + target.key) AS relations
}
CALL (entity_mentions) {
  UNWIND entity_mentions AS pair
  UNWIND pair[1] AS mention
  DELETE mention
}
CALL (entity_mentions) {
  UNWIND entity_mentions AS pair
  WITH pair[0] AS entity
  WHERE entity.mention_count <= 1000 AND EXISTS { (entity)<-[:MENTIONS]-() }
  UNWIND [entity.name] + entity.aliases AS name
  WITH entity, name, EXISTS {
    MATCH (entity)<-[:MENTIONS]-(source)
    WHERE source.text CONTAINS name OR source.content CONTAINS name OR source.document CONTAINS name
  } AS is_used
  WITH entity, count(*) AS spelling_count, collect(CASE WHEN is_used THEN name END) AS names
  WHERE size(names) < spelling_count
  SET
    entity.name = coalesce(head(names), entity.normalised),
    entity.aliases = tail(names)
}
CALL (entity_mentions) {
  UNWIND entity_mentions AS pair
  WITH pair[0] AS entity
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
RETURN entities, relations
