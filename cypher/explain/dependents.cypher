// The memories and artifacts that have an event as evidence.
//
// mode: read
// row:  kind, record_id, text, status
MATCH (event:Event {key: $key})<-[:EVIDENCED_BY]-(record:Artifact|Memory)
WHERE event.tenant_id = $tenant_id
RETURN
  CASE WHEN record:Artifact THEN 'artifact' ELSE 'memory' END AS kind,
  coalesce(record.artifact_id, record.memory_id) AS record_id,
  coalesce(record.title, record.text) AS text,
  record.status AS status
ORDER BY kind, record_id
