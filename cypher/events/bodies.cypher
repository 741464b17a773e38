// The hash, type and content of stored events; an erased event has no content.
//
// mode: read
// row:  key, event_hash, event_type, content
UNWIND $batch.event_keys AS key
MATCH (event:Event {key: key, tenant_id: $tenant_id})
USING INDEX SEEK event:Event(key)
RETURN event.key AS key, event.event_hash AS event_hash, event.event_type AS event_type, event.content AS content
ORDER BY key
