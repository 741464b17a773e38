// One session as a picture.
//
// The chain of its events, with answers and causes.
//
// The session's version is named so that its index is used.
//
// mode: read
// row:  event, relation, other
MATCH (session:Session {tenant_id: $tenant_id, session_id: $session_id})
WHERE session.changed_version IS NOT NULL
MATCH (session)<-[:IN_SESSION]-(event:Event {tenant_id: $tenant_id})
OPTIONAL MATCH (event)-[relation:NEXT|CAUSED_BY|ANSWERS|ABOUT]->(other:Event {tenant_id: $tenant_id})
RETURN event, relation, other
ORDER BY event.sequence, event.event_id, type(relation), other.event_id
