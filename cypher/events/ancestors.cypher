// For each of a few events that have a cause: its key and those of its causes, nearest first, at most 250 steps.
//
// An event names at most one cause, so only the longest path matters; a loop ends it.
//
// mode: read
// row:  line
UNWIND $batch.event_keys AS key
MATCH (event:Event {key: key, tenant_id: $tenant_id})
CALL (event) {
  MATCH path = (event)-[:CAUSED_BY*1..250]->(:Event)
  RETURN [node IN nodes(path) | node.key] AS line
  ORDER BY length(path) DESC
  LIMIT 1
}
RETURN line
ORDER BY head(line)
