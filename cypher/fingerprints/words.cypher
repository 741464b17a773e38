// The words of each event that supports the selected artifacts, with the users named in its session.
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
