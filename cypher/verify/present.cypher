// Which of these events and memories are stored: one row.
//
// mode: read
// row:  events, memories
CALL () {
  MATCH (event:Event)
  WHERE event.key IN $event_keys AND event.tenant_id = $tenant_id
  RETURN collect(event.key) AS events
}
CALL () {
  MATCH (memory:Memory)
  WHERE memory.key IN $memory_keys AND memory.tenant_id = $tenant_id
  RETURN collect(memory.key) AS memories
}
RETURN events, memories
