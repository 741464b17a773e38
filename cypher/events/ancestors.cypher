// The keys of an event and of those that caused it, the nearest first: at most 250 steps, for each of a few events.
//
// An event names one cause at most, so the longest path is the only one that matters, and a loop ends it.
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
