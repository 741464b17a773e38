// What lies around the best events: one row. Those that share an entity with $anchors (entities that more than $degree
// events mention tie nothing together and are left out whole, so that no part of them is an accident of the order of
// storage), those of the time that the question names, the latest ones, and those of the running session.
//
// As of $as_of_us. The lists come in no order where nothing is cut off; where something is, the order is total. The
// latest ones and those of the session are as many as are asked for; cut_off tells that the time has more than are told.
//
// The planner would go through a tenant's whole time, or all events there are, for those of one session: hence the
// hint; and for those that an entity names: hence startNode, which it cannot begin from. It takes the latest straight
// from the index only where the order names both of its properties, and where expires_us stands inside coalesce: asked
// about with IS NULL OR, it is looked up in an index of its own, and the order is lost.
//
// Of the $long ones the content: the pool has the beginning of their texts.
//
// It is the last of a pack's statements, and each of them sees what was committed by then: state_version, read after all
// else, tells whether anything was since the first one read it.
//
// mode: read
// row:  mentions, events, texts, contents, cut_off, state_version
CALL () {
  UNWIND $anchors AS key
  MATCH (anchor:Event {key: key})-[:MENTIONS]->(entity:Entity)
  WHERE anchor.tenant_id = $tenant_id
  WITH DISTINCT entity
  WHERE COUNT { (entity)<-[:MENTIONS]-() } <= $degree
  MATCH (entity)<-[mention:MENTIONS]-()
  WITH entity, mention, startNode(mention) AS event
  WHERE event:Event AND event.tenant_id = $tenant_id AND event.erased IS NULL AND event.time_us <= $as_of_us
    AND coalesce(event.expires_us > $as_of_us, true)
  RETURN
    collect([event.event_id, entity.normalised, coalesce(mention.role, '')]) AS mentions,
    collect(DISTINCT event) AS linked
}
CALL () {
  MATCH (event:Event {tenant_id: $tenant_id})
  WHERE event.time_us >= $from_us AND event.time_us < $to_us AND event.time_us <= $as_of_us
    AND event.erased IS NULL AND coalesce(event.expires_us > $as_of_us, true)
  WITH event
  ORDER BY event.tenant_id DESC, event.time_us DESC, event.event_id
  LIMIT 121
  RETURN collect(event) AS spanned
}
CALL (linked, spanned) {
  CALL (linked, spanned) {
    UNWIND linked + spanned[0..120] AS event
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
  UNWIND $long AS key
  MATCH (event:Event {key: key})
  WHERE event.tenant_id = $tenant_id AND event.erased IS NULL
  RETURN collect([event.event_id, event.event_type, event.content]) AS contents
}
RETURN
  mentions,
  events,
  texts,
  contents,
  size(spanned) > 120 AS cut_off,
  coalesce(head(COLLECT {
    MATCH (tenant:Tenant {key: $tenant_key})
    WHERE tenant.tenant_id = $tenant_id
    RETURN tenant.state_version
  }), 0) AS state_version
