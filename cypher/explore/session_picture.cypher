// One session as a picture.
//
// The chain of its events with what answers and what caused what.
//
// mode: read
// row:  event, relation, other
MATCH (event:Event {tenant_id: $tenant_id, session_id: $session_id})
OPTIONAL MATCH (event)-[relation:NEXT|CAUSED_BY|ANSWERS|ABOUT]->(other:Event {tenant_id: $tenant_id})
RETURN event, relation, other
ORDER BY event.sequence, event.event_id, type(relation), other.event_id
