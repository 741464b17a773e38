// Remove everything from a page of events except keys, ids, hash, type, time, order and versions, so that chains,
// evidence and replays still find them.
//
// mode: write
// row:  key
MATCH (event:Event)
WHERE event.key IN $batch.event_keys AND event.tenant_id = $tenant_id AND event.erased IS NULL
WITH event
ORDER BY event.key
CALL (event) {
  MATCH (event)-[named:NAMES_USER]->(:Session)
  DELETE named
}
SET event = {
  key: event.key,
  tenant_id: event.tenant_id,
  event_id: event.event_id,
  session_id: event.session_id,
  session_key: event.session_key,
  event_type: event.event_type,
  hmx_version: event.hmx_version,
  sequence: event.sequence,
  timestamp: event.timestamp,
  time_us: event.time_us,
  event_hash: event.event_hash,
  recorded_version: event.recorded_version,
  erased: true
}
RETURN event.key AS key
ORDER BY key
