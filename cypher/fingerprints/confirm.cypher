// Link imported artifacts to the evidence of the tenant's own artifacts that state the same. All are locked already.
//
// mode: write
// row:  -
UNWIND $pairs AS pair
MATCH (imported:Artifact {key: pair.imported_key, tenant_id: $tenant_id})
MATCH (own:Artifact {key: pair.own_key, tenant_id: $tenant_id})
CALL (imported, own) {
  MATCH (own)-[:EVIDENCED_BY]->(event:Event)
  WITH DISTINCT event
  ORDER BY event.key
  MERGE (imported)-[link:EVIDENCED_BY]->(event)
    ON CREATE SET link.tenant_id = $tenant_id, link.session_key = event.session_key
}
