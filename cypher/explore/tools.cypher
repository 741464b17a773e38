// Tools and how well they serve.
//
// Calls of each tool that a result answered, with the share of results that are no failure.
//
// The time is named for its index.
//
// mode: read
// row:  name, calls, success_rate
MATCH (event:Event {tenant_id: $tenant_id, event_type: 'tool_result'})-[:MENTIONS]->(tool:Entity {type: 'tool'})
WHERE event.time_us IS NOT NULL AND event.erased IS NULL
WITH
  tool,
  count(event) AS calls,
  sum(CASE WHEN event.failed THEN 0.0 ELSE 1.0 END) AS succeeded
RETURN tool.name AS name, calls, round(succeeded / calls, 3) AS success_rate
ORDER BY calls DESC, tool.key
