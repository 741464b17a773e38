// Create the new events of a batch, weave them into the chains of their locked sessions, link them to each other.
//
// The sessions come in key order, their events in the order of the session. Links inside the batch name their ends by
// position, so that no index is asked for nodes just made; chains that go on from stored events name them by key. Sessions
// are looked for in the index of their keys alone, which is the smallest.
//
// mode: write
// row:  stored
UNWIND $batch.sessions AS row
MATCH (session:Session {key: row.key, tenant_id: $tenant_id})
USING INDEX SEEK session:Session(key)
SET session += row.properties
WITH session, row
UNWIND row.events AS properties
CREATE (event:Event)-[:IN_SESSION {tenant_id: $tenant_id}]->(session)
SET event = properties
WITH collect(event) AS events
CALL (events) {
  UNWIND $batch.next AS pair
  WITH events[pair[0]] AS earlier, events[pair[1]] AS later
  CREATE (earlier)-[:NEXT {tenant_id: $tenant_id}]->(later)
}
CALL (events) {
  UNWIND $batch.caused_by AS pair
  WITH events[pair[0]] AS event, events[pair[1]] AS cause
  CREATE (event)-[:CAUSED_BY {tenant_id: $tenant_id}]->(cause)
}
CALL (events) {
  UNWIND $batch.correlates_with AS pair
  WITH events[pair[0]] AS event, events[pair[1]] AS other
  CREATE (event)-[:CORRELATES_WITH {tenant_id: $tenant_id}]->(other)
}
CALL (events) {
  UNWIND $batch.answers AS pair
  WITH events[pair[0]] AS result, events[pair[1]] AS call
  CREATE (result)-[:ANSWERS {tenant_id: $tenant_id}]->(call)
}
CALL (events) {
  UNWIND $batch.about AS pair
  WITH events[pair[0]] AS feedback, events[pair[1]] AS target
  CREATE (feedback)-[:ABOUT {tenant_id: $tenant_id}]->(target)
}
CALL () {
  UNWIND $batch.parted AS pair
  MATCH (:Event {key: pair[0]})-[next:NEXT]->(:Event {key: pair[1]})
  DELETE next
}
CALL () {
  UNWIND $batch.joined AS pair
  MATCH (earlier:Event {key: pair[0]})
  MATCH (later:Event {key: pair[1]})
  CREATE (earlier)-[:NEXT {tenant_id: $tenant_id}]->(later)
}
RETURN size(events) AS stored
