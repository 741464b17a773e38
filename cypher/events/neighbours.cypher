// The stored events next to late ones: those at the same position in the order, and those at the position before it.
//
// Ids break the last tie, and the database compares stored text by code points but parameters by UTF-16 units, so the
// caller compares them. Because ORDER BY lists the index's two properties, session and sequence, the index is read in
// order and the search ends at once. The hint is needed because some statistics make the planner choose another index.
//
// mode: read
// row:  key, twins, lower
UNWIND $batch.late AS row
CALL (row) {
  MATCH (twin:Event {tenant_id: $tenant_id, session_key: row.session_key, sequence: row.sequence, time_us: row.time_us})
  USING INDEX SEEK twin:Event(session_key, sequence)
  OPTIONAL MATCH (twin)-[:NEXT]->(successor:Event)
  RETURN collect([twin.event_id, twin.key, successor.key]) AS twins
}
CALL (row) {
  OPTIONAL MATCH (event:Event {tenant_id: $tenant_id, session_key: row.session_key})
  USING INDEX SEEK event:Event(session_key, sequence)
  WHERE event.sequence <= row.sequence AND [event.sequence, event.time_us] < [row.sequence, row.time_us]
  RETURN event.sequence AS sequence, event.time_us AS time_us
  ORDER BY event.session_key DESC, sequence DESC, time_us DESC
  LIMIT 1
}
OPTIONAL MATCH (event:Event {tenant_id: $tenant_id, session_key: row.session_key, sequence: sequence, time_us: time_us})
USING INDEX SEEK event:Event(session_key, sequence)
OPTIONAL MATCH (event)-[:NEXT]->(successor:Event)
RETURN row.key AS key, twins, collect([event.event_id, event.key, successor.key]) AS lower
ORDER BY key
