// The sources of a context pack.
//
// From the sources of a pack's entries (their ids) to the events that they came from, as a picture.
//
// Conditions on the time of recording and the kind let the planner use their indexes.
//
// mode: read
// row:  source, relation, event
CALL () {
  MATCH (source:Artifact {tenant_id: $tenant_id})
  WHERE source.recorded_us IS NOT NULL AND source.artifact_id IN $source_ids
  RETURN source
  UNION ALL
  MATCH (source:Memory {tenant_id: $tenant_id})
  WHERE source.kind IS NOT NULL AND source.memory_id IN $source_ids
  RETURN source
}
MATCH (source)-[relation:EVIDENCED_BY]->(event:Event)
RETURN source, relation, event
ORDER BY source.key, event.time_us, event.event_id
