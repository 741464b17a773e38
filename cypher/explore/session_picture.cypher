// One session as a picture.
//
// The chain of its events, with answers, causes and feedback.
//
// Sessions are indexed by the first 200 characters of their ids.
//
// mode: read
// row:  event, relation, other
MATCH (session:Session {tenant_id: $tenant_id, id_start: left($session_id, 200)})
USING INDEX SEEK session:Session(tenant_id, id_start)
WHERE session.session_id = $session_id
MATCH (session)<-[:IN_SESSION]-(event:Event {tenant_id: $tenant_id})
OPTIONAL MATCH (event)-[relation:NEXT|CAUSED_BY|ANSWERS|ABOUT]->(other:Event {tenant_id: $tenant_id})
RETURN event, relation, other
ORDER BY event.sequence, event.event_id, type(relation), other.event_id
