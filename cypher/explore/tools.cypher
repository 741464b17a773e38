// Tools and how reliable they are.
//
// Each tool's answered calls, and work that states its own outcome, with the share that did not fail.
//
// Commands and tests are counted under each program that they run, other events under their tool. Work that names
// neither is counted under its event type; a result that names no tool is left out. A condition on the time lets the
// planner use the index of tenant and time.
//
// mode: read
// row:  name, calls, success_rate
MATCH (event:Event {tenant_id: $tenant_id})
WHERE event.event_type IN ['tool_result', 'command_exec', 'test_run', 'file_edit', 'browser_action', 'api_result']
  AND event.time_us IS NOT NULL
  AND event.erased IS NULL
OPTIONAL MATCH (event)-[:MENTIONS]->(tool:Entity)
WHERE tool.type = CASE WHEN event.event_type IN ['command_exec', 'test_run'] THEN 'command' ELSE 'tool' END
WITH event, coalesce(tool.name, CASE event.event_type WHEN 'tool_result' THEN null ELSE event.event_type END) AS name
WHERE name IS NOT NULL
WITH
  name,
  count(event) AS calls,
  sum(CASE WHEN event.failed THEN 0.0 ELSE 1.0 END) AS succeeded
RETURN name, calls, round(succeeded / calls, 3) AS success_rate
ORDER BY calls DESC, name
