// The stored events around late ones: for each sequence number of a late event, the events with that number and those
// with the highest number before it.
//
// The caller compares times and ids, once for all late events with the same number. It compares ids by code points, as
// the database does with stored texts; a parameter would be compared by UTF-16 units.
//
// Because ORDER BY lists the index's two properties, session and sequence, the index is read in order and the search
// for the number before ends at once. The hints are needed because some statistics make the planner choose another
// index.
//
// mode: read
// row:  session_key, sequence, nearby
UNWIND $batch.late AS row
CALL (row) {
  OPTIONAL MATCH (event:Event {tenant_id: $tenant_id, session_key: row.session_key})
  USING INDEX SEEK event:Event(session_key, sequence)
  WHERE event.sequence < row.sequence
  RETURN event.sequence AS before
  ORDER BY event.session_key DESC, before DESC
  LIMIT 1
}
CALL (row, before) {
  MATCH (event:Event {tenant_id: $tenant_id, session_key: row.session_key})
  USING INDEX SEEK event:Event(session_key, sequence)
  WHERE event.sequence IN [before, row.sequence]
  OPTIONAL MATCH (event)-[:NEXT]->(successor:Event)
  RETURN collect([event.sequence, event.time_us, event.event_id, event.key, successor.key]) AS nearby
}
RETURN row.session_key AS session_key, row.sequence AS sequence, nearby
ORDER BY session_key, sequence
