// A page of events in order of time: the hashed fields, the fields derived from them, whether the event is in its
// session and followed by an earlier one, and the types of its links, to stored events and to awaited ones.
//
// Within one instant the page continues by key, so that any number of events may share it. With the tenant in ORDER BY,
// the index is read in order and a page costs what it returns. Lists are compared because OR would be planned branch by
// branch, which loses the order.
//
// mode: read
// row:  key, time_us, event, derived, in_session, out_of_order, linked, awaited
MATCH (event:Event)
USING INDEX SEEK event:Event(tenant_id, time_us)
WHERE event.tenant_id = $tenant_id
  AND event.time_us >= $after_us
  AND [event.time_us, event.key] > [$after_us, $after_key]
WITH event
ORDER BY event.tenant_id, event.time_us, event.key
LIMIT $limit
RETURN
  event.key AS key,
  event.time_us AS time_us,
  event {
    .hmx_version, .event_id, .event_type, .agent_id, .tenant_id, .session_id, .timestamp, .sequence, .content,
    .metadata, .trace_id, .correlation_id, .parent_event_id, .embeddings, .salience, .salience_origin, .source,
    .provenance_ref, .tags, .ttl_seconds, .event_hash, .erased
  } AS event,
  event {
    .text, .search_text, .title, .speaker, .label, .failed, .token_count, .tokenizer, .time_us, .expires_us, .recall_row
  } AS derived,
  EXISTS { MATCH (event)-[:IN_SESSION]->(session:Session) WHERE session.key = event.session_key AND session.tenant_id = $tenant_id } AS in_session,
  EXISTS {
    MATCH (event)-[:NEXT]->(later:Event)
    WHERE later.session_key <> event.session_key
      OR later.sequence < event.sequence
      OR (later.sequence = event.sequence AND later.time_us < event.time_us)
      OR (later.sequence = event.sequence AND later.time_us = event.time_us AND later.event_id <= event.event_id)
  } AS out_of_order,
  [(event)-[link:CAUSED_BY|CORRELATES_WITH]->(:Event) | type(link)] AS linked,
  [(event)-[waits:AWAITS]->(:Awaited) | waits.link] AS awaited
ORDER BY event.time_us, event.key
