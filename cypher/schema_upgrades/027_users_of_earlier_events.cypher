// Link the stored events that name a user. Cypher cannot hash the user's name into a key, so all get the key that the
// users of a tenant share; to erase a user, retention/select_user looks for the name in each of these events.
//
// mode: write
// row:  -
MATCH (event:Event)-[:IN_SESSION]->(session:Session)
WHERE event.erased IS NULL
  AND any(field IN ['"user_id":"', '"userid":"', '"customer_id":"', '"user_name":"'] WHERE
    toLower(event.metadata) CONTAINS field
    OR (event.event_type = 'x-hmxgraph-memory' AND toLower(event.content) CONTAINS field))
MERGE (event)-[named:NAMES_USER]->(session)
ON CREATE SET named.tenant_id = event.tenant_id, named.user_key = event.scope, named.time_us = event.time_us;
