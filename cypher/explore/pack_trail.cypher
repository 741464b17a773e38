// The trail of a context pack.
//
// From the sources of a pack's entries (their ids) to the events they came from, as a picture.
//
// mode: read
// row:  source, relation, event
MATCH (source)
WHERE (source:Artifact OR source:Memory) AND source.tenant_id = $tenant_id
  AND (source.artifact_id IN $source_ids OR source.memory_id IN $source_ids)
MATCH (source)-[relation:EVIDENCED_BY]->(event:Event)
RETURN source, relation, event
ORDER BY source.key, event.time_us, event.event_id
