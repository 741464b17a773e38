// A page of sessions: the counter of each (counted), the actual number of its events (stored), and that of the links
// between them.
//
// mode: read
// row:  session_id, counted, stored, links
MATCH (session:Session)
WHERE session.key IN $keys AND session.tenant_id = $tenant_id
RETURN
  session.session_id AS session_id,
  session.event_count AS counted,
  COUNT { (session)<-[:IN_SESSION]-(:Event) } AS stored,
  COUNT { (session)<-[:IN_SESSION]-(:Event)-[:NEXT]->(:Event) } AS links
ORDER BY session.key
