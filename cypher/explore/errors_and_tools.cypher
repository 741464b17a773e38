// Which tools raise which errors, and the fixes on record.
//
// The entity graph around error types, and the tools of failed results that name no error type, as a picture; each row
// follows the direction of its relation.
//
// Of failed results with the same text the latest is shown, and at most 100 in all. Playbooks that the compiler made
// from recoveries are in failures_and_fixes. A condition on the time lets the planner use the index of tenant and time.
//
// mode: read
// row:  source, relation, target
CALL () {
  MATCH (:Entity {tenant_id: $tenant_id, type: 'error_type'})-[relation:RELATES_TO]-(:Entity {tenant_id: $tenant_id})
  WHERE relation.status = 'active'
  RETURN DISTINCT relation
  UNION ALL
  MATCH (event:Event {tenant_id: $tenant_id})
  WHERE event.time_us IS NOT NULL
    AND event.failed
    AND event.erased IS NULL
    AND NOT EXISTS {
      MATCH (event)-[:ANSWERS*0..1]->(:Event)<-[:CAUSED_BY|CORRELATES_WITH]-(error:Event {event_type: 'error'})
      WHERE error.erased IS NULL
    }
    AND NOT EXISTS { (event)-[:MENTIONS]->(:Entity {type: 'error_type'}) }
  MATCH (event)-[mention:MENTIONS]->(tool:Entity)
  WHERE tool.type = CASE WHEN event.event_type IN ['command_exec', 'test_run'] THEN 'command' ELSE 'tool' END
  WITH event, mention, tool
  ORDER BY event.time_us DESC, event.event_id
  WITH tool, event.text AS text, head(collect(mention)) AS relation, max(event.time_us) AS last_us
  RETURN relation
  ORDER BY last_us DESC, tool.key, text
  LIMIT 100
}
WITH startNode(relation) AS source, relation, endNode(relation) AS target
RETURN source, relation, target
ORDER BY target.key, type(relation), relation.relation_type, source.key
