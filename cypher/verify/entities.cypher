// A page of entities: the counter of each (counted), the actual number of its mentions (mentioned), and its relations
// with their counters.
//
// A mention's marks name the relations that its event is evidence for; marks has each mark with the number of mentions.
//
// mode: read
// row:  key, counted, mentioned, relations, marks
MATCH (entity:Entity)
WHERE entity.key IN $keys AND entity.tenant_id = $tenant_id
RETURN
  entity.key AS key,
  entity.mention_count AS counted,
  COUNT { (entity)<-[:MENTIONS]-(:Event) } + COUNT { (entity)<-[:MENTIONS]-(:TaskRecord) } AS mentioned,
  [(entity)-[relation:RELATES_TO]->(target:Entity) |
    [relation.relation_type, target.key, relation.evidence_count]] AS relations,
  COLLECT {
    MATCH (entity)<-[mention:MENTIONS]-(:Event)
    UNWIND coalesce(mention.relations, []) AS mark
    WITH mark, count(*) AS times
    ORDER BY mark
    RETURN [mark, times]
  } AS marks
ORDER BY entity.key
