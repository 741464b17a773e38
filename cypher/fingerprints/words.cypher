// The words of events that support the selected artifacts, each with the users that its session names, at most $limit
// events. Sessions without a named user are left out.
//
// mode: read
// row:  words, user_keys
MATCH (artifact:Artifact)
WHERE artifact.key IN $keys AND artifact.tenant_id = $tenant_id
MATCH (artifact)-[:EVIDENCED_BY]->(event:Event)-[:IN_SESSION]->(session:Session)
WHERE event.erased IS NULL AND size(session.user_keys) > 0
WITH DISTINCT event, session
ORDER BY event.key
LIMIT $limit
RETURN event.search_text AS words, session.user_keys AS user_keys
ORDER BY event.key
