// Fetch the surroundings of the best events, as one row: events that share an entity with $anchors, events of the time
// that the question names, the tenant's latest events, and the latest of the running session. Entities with more than
// $most_mentions are too common to link events; they are skipped entirely, because a part of their mentions would be
// arbitrary.
//
// Everything is read as of $as_of_us. Lists without a LIMIT are unordered; lists with one have a total order. cut_off:
// the named time has more events, or the named entities more neighbours, than are returned.
//
// Planner: without the hint it scans all events, or the tenant's whole time range, for those of one session; startNode
// keeps it from starting at events when expanding from an entity. The latest events are read in the order of the index
// only if the ORDER BY repeats both of its properties and expires_us is inside coalesce: with IS NULL OR the planner
// would use the index on expires_us and lose the order.
//
// The client has only the beginning of long texts, so the content of the $long_events is fetched.
//
// With $related also fetch relations: two steps deep around the entities that the question names ($named) and those to
// which a relation "name" gives one of these as their name, and one step deep around the entities of the best three
// anchors. Entities with more than $most_links relations are not expanded; their relations are still reached from the
// other end. Neighbours are selected by when they were first related, which later events do not change. The last value
// of each entity in related is the name that a relation "name" gives it, or null.
//
// results maps each result to the one of the $calls that it answers. Results of the $unanswered calls are fetched,
// because a call without its result is useless. Also fetched are examples: those $examples of the $sessions that have
// the highest $worths (multiplied by $if_failed if the last feedback was negative). Of a session of at most
// $short_session events all are fetched, otherwise the last eight, which show how it ended.
//
// The 24 events after each of the $trails are fetched: what was done about a failure, or after a piece of work, often
// shares no word with the question.
//
// outcomes gives the last feedback on each of the $sessions, and on the sessions of linked events, if it had been given
// by then. logs lists those of the $sessions, and the running one, that had more than $long_session events by then.
//
// This is the last statement of a pack, and each statement sees what was committed before it: state_version, read
// last, reveals concurrent commits since the first statement.
//
// mode: read
// row:  mentions, events, texts, results, contents, outcomes, examples, logs, relations, related, cut_off, state_version
CALL () {
  UNWIND $anchors AS key
  MATCH (anchor:Event {key: key})-[:MENTIONS]->(entity:Entity)
  WHERE anchor.tenant_id = $tenant_id
  WITH DISTINCT entity
  WHERE COUNT { (entity)<-[:MENTIONS]-() } <= $most_mentions
  MATCH (entity)<-[mention:MENTIONS]-()
  WITH entity, mention, startNode(mention) AS event
  WHERE event:Event AND event.tenant_id = $tenant_id AND event.erased IS NULL AND event.time_us <= $as_of_us
    AND coalesce(event.expires_us > $as_of_us, true)
  RETURN
    collect([event.event_id, entity.normalised, coalesce(mention.role, '')]) AS mentions,
    collect(DISTINCT event) AS linked_events
}
CALL () {
  MATCH (event:Event {tenant_id: $tenant_id})
  WHERE event.time_us >= $from_us AND event.time_us < $to_us AND event.time_us <= $as_of_us
    AND event.erased IS NULL AND coalesce(event.expires_us > $as_of_us, true)
  WITH event
  ORDER BY event.tenant_id DESC, event.time_us DESC, event.event_id
  LIMIT 121
  RETURN collect(event) AS events_of_time
}
CALL () {
  UNWIND $calls AS key
  MATCH (call:Event {key: key})<-[:ANSWERS]-(result:Event)
  WHERE call.tenant_id = $tenant_id AND result.tenant_id = $tenant_id AND result.time_us <= $as_of_us
    AND result.erased IS NULL AND coalesce(result.expires_us > $as_of_us, true)
  RETURN
    collect([result.event_id, call.event_id]) AS results,
    collect(CASE WHEN key IN $unanswered THEN result END) AS missing_results
}
CALL () {
  UNWIND range(0, size($sessions) - 1) AS place
  MATCH (session:Session {key: $sessions[place]})
  WHERE session.tenant_id = $tenant_id
  WITH
    session,
    place,
    session.outcome IN ['negative', 'correction'] AND session.outcome_order[1] <= $as_of_us AS failed
  ORDER BY $worths[place] * CASE WHEN failed THEN $if_failed ELSE 1.0 END DESC, place
  LIMIT $examples
  RETURN collect(session) AS examples
}
CALL (linked_events, events_of_time, missing_results, examples) {
  CALL (linked_events, events_of_time, missing_results, examples) {
    UNWIND linked_events + events_of_time[0..120] AS event
    RETURN event
    UNION
    UNWIND missing_results AS event
    RETURN event
    UNION
    UNWIND $trails AS key
    MATCH (start:Event {key: key})-[:NEXT*1..24]->(event)
    WHERE start.tenant_id = $tenant_id AND event.tenant_id = $tenant_id AND event.time_us <= $as_of_us
      AND event.erased IS NULL AND coalesce(event.expires_us > $as_of_us, true)
    RETURN event
    UNION
    UNWIND examples AS session
    MATCH (tail:Event {key: session.tail_key})<-[:NEXT*0..7]-(event)
    WHERE tail.tenant_id = $tenant_id AND event.tenant_id = $tenant_id AND event.time_us <= $as_of_us
      AND event.erased IS NULL AND coalesce(event.expires_us > $as_of_us, true)
    RETURN event
    UNION
    UNWIND [session IN examples WHERE session.event_count <= $short_session | session.key] AS key
    MATCH (event:Event)
    USING INDEX SEEK event:Event(session_key, sequence)
    WHERE event.session_key = key AND event.sequence IS NOT NULL AND event.tenant_id = $tenant_id
      AND event.time_us <= $as_of_us
      AND event.erased IS NULL AND coalesce(event.expires_us > $as_of_us, true)
    RETURN event
    UNION
    MATCH (event:Event {tenant_id: $tenant_id})
    WHERE event.time_us >= $latest_us AND event.time_us <= $as_of_us
      AND event.erased IS NULL AND coalesce(event.expires_us > $as_of_us, true)
    RETURN event
    ORDER BY event.tenant_id DESC, event.time_us DESC, event.event_id
    LIMIT 60
    UNION
    MATCH (event:Event)
    USING INDEX SEEK event:Event(session_key, sequence)
    WHERE event.session_key = $session_key AND event.sequence IS NOT NULL AND event.tenant_id = $tenant_id
      AND event.time_us <= $as_of_us
      AND event.erased IS NULL AND coalesce(event.expires_us > $as_of_us, true)
    RETURN event
    ORDER BY event.session_key DESC, event.sequence DESC, event.time_us DESC, event.event_id DESC
    LIMIT 40
  }
  RETURN collect(coalesce(event.recall_row, '')) AS events, collect(coalesce(event.text, '')) AS texts
}
CALL () {
  UNWIND $long_events AS key
  MATCH (event:Event {key: key})
  WHERE event.tenant_id = $tenant_id AND event.erased IS NULL
  RETURN collect([event.event_id, event.event_type, event.content]) AS contents
}
CALL (linked_events) {
  UNWIND $sessions + [event IN linked_events | event.session_key] AS key
  WITH DISTINCT key
  MATCH (session:Session {key: key})
  WHERE session.tenant_id = $tenant_id AND session.outcome IN ['positive', 'negative', 'correction']
    AND session.outcome_order[1] <= $as_of_us
  RETURN collect([session.session_id, session.outcome]) AS outcomes
}
CALL () {
  UNWIND $sessions + [$session_key] AS key
  WITH DISTINCT key
  MATCH (session:Session {key: key})
  WHERE session.tenant_id = $tenant_id AND session.event_count > $long_session
    AND head(COLLECT {
      MATCH (event:Event)
      USING INDEX SEEK event:Event(session_key, sequence)
      WHERE event.session_key = key AND event.sequence IS NOT NULL AND event.tenant_id = $tenant_id
      RETURN event.time_us
      ORDER BY event.session_key, event.sequence
      SKIP $long_session LIMIT 1
    }) <= $as_of_us
  RETURN collect(session.session_id) AS logs
}
CALL () {
  UNWIND $named AS key
  MATCH (entity:Entity {key: key})
  WHERE entity.tenant_id = $tenant_id AND $related
  RETURN collect(entity) AS named_entities
}
CALL (named_entities) {
  UNWIND named_entities AS entity
  WITH entity
  WHERE COUNT { (entity)-[:RELATES_TO]-() } <= $most_links
  MATCH (entity)<-[relation:RELATES_TO {relation_type: 'name'}]-(holder:Entity)
  WHERE relation.tenant_id = $tenant_id AND relation.status = 'active' AND relation.first_us <= $as_of_us
  WITH holder, max(relation.first_us) AS first_us
  ORDER BY first_us DESC, holder.key
  LIMIT 20
  RETURN collect(holder) AS name_holders
}
CALL () {
  UNWIND $anchors[0..3] AS key
  MATCH (anchor:Event {key: key})-[:MENTIONS]->(entity:Entity)
  WHERE anchor.tenant_id = $tenant_id AND $related
  WITH DISTINCT entity
  WHERE COUNT { (entity)<-[:MENTIONS]-() } <= $most_mentions AND COUNT { (entity)-[:RELATES_TO]-() } <= $most_links
  RETURN collect(entity) AS anchor_entities
}
CALL (named_entities, name_holders) {
  UNWIND named_entities + name_holders AS seed
  WITH DISTINCT seed
  WHERE COUNT { (seed)-[:RELATES_TO]-() } <= $most_links
  MATCH (seed)-[relation:RELATES_TO]-(other:Entity)
  WHERE relation.tenant_id = $tenant_id AND relation.status = 'active' AND relation.first_us <= $as_of_us
    AND relation.relation_type <> 'said_by'
    AND COUNT { (other)-[:RELATES_TO]-() } <= $most_links
  WITH other, max(relation.first_us) AS first_us
  ORDER BY first_us DESC, other.key
  LIMIT 41
  RETURN collect(other) AS neighbours
}
CALL (named_entities, name_holders, anchor_entities, neighbours) {
  UNWIND named_entities + name_holders + anchor_entities + neighbours[0..40] AS entity
  WITH DISTINCT entity
  WHERE COUNT { (entity)-[:RELATES_TO]-() } <= $most_links
  MATCH (entity)-[relation:RELATES_TO]-()
  WHERE relation.tenant_id = $tenant_id AND relation.status = 'active' AND relation.first_us <= $as_of_us
    AND relation.relation_type <> 'said_by'
  RETURN collect(DISTINCT relation) AS links
}
CALL (links) {
  UNWIND links AS relation
  UNWIND [startNode(relation), endNode(relation)] AS entity
  WITH DISTINCT entity
  RETURN collect([
    entity.key, entity.name, entity.type, entity.normalised,
    CASE WHEN COUNT { (entity)-[:RELATES_TO]->() } <= $most_links THEN head(COLLECT {
      MATCH (entity)-[label:RELATES_TO {relation_type: 'name'}]->(given:Entity)
      WHERE label.status = 'active' AND label.first_us <= $as_of_us
      RETURN given.name
      ORDER BY label.weight DESC, given.key
      LIMIT 1
    }) END
  ]) AS related
}
RETURN
  mentions,
  events,
  texts,
  results,
  contents,
  outcomes,
  [session IN examples | session.session_id] AS examples,
  logs,
  [relation IN links | [
    startNode(relation).key, relation.relation_type, endNode(relation).key, relation.weight, relation.confidence,
    relation.evidence_count, relation.last_us
  ]] AS relations,
  related,
  size(events_of_time) > 120 OR size(neighbours) > 40 AS cut_off,
  coalesce(head(COLLECT {
    MATCH (tenant:Tenant {key: $tenant_key})
    WHERE tenant.tenant_id = $tenant_id
    RETURN tenant.state_version
  }), 0) AS state_version
