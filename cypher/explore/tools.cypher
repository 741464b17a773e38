// Tools and how well they serve.
//
// Calls of each tool with the share that succeeded.
//
// The time is named for its index.
//
// mode: read
// row:  name, calls, success_rate
MATCH (event:Event {tenant_id: $tenant_id, event_type: 'tool_result'})-[:MENTIONS]->(tool:Entity {type: 'tool'})
WHERE event.time_us IS NOT NULL
WITH tool, count(event) AS calls, sum(CASE WHEN event.content CONTAINS '"success":true' THEN 1.0 ELSE 0.0 END) AS succeeded
RETURN tool.name AS name, calls, round(succeeded / calls, 3) AS success_rate
ORDER BY calls DESC, tool.key
