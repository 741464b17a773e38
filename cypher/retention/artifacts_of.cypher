// The draft and active artifacts that have one of a page of events as evidence, directly or through memories.
//
// mode: read
// row:  key
MATCH (event:Event)
WHERE event.key IN $batch.event_keys AND event.tenant_id = $tenant_id
MATCH (event)<-[:EVIDENCED_BY]-(record:Artifact|Memory)
OPTIONAL MATCH (record)<-[:DERIVED_FROM]-(derived:Artifact)
UNWIND [record, derived] AS artifact
WITH DISTINCT artifact
WHERE artifact:Artifact AND artifact.status IN ['draft', 'active']
RETURN artifact.key AS key
ORDER BY key
