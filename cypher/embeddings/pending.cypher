// A page of the events that have no vector yet, of sessions that changed since the last complete pass, as one row.
//
// A page covers the next 50 sessions after $after by key, and up to $limit of their events. There is no row for a
// tenant that nothing was written to. Events that packs never show need no vector, except those by which `remember`
// stored a memory ($stated): packs show the memory.
//
// mode: read
// row:  state_version, events, last_session, complete
MATCH (tenant:Tenant {key: $tenant_key, tenant_id: $tenant_id})
CALL (tenant) {
  MATCH (session:Session)
  USING INDEX SEEK session:Session(tenant_id, key)
  WHERE session.tenant_id = $tenant_id AND session.key > $after
    AND session.changed_version > coalesce(tenant.vectors_version, -1)
  WITH session
  ORDER BY session.tenant_id, session.key
  LIMIT 50
  RETURN collect(session.key) AS keys
}
CALL (keys) {
  UNWIND keys AS key
  MATCH (event:Event)
  USING INDEX SEEK event:Event(session_key, sequence)
  WHERE event.session_key = key AND event.sequence IS NOT NULL AND event.tenant_id = $tenant_id
    AND event.vector IS NULL AND event.erased IS NULL AND event.text <> ''
    AND (event.recall_row IS NOT NULL OR event.event_type = $stated)
  WITH event
  ORDER BY event.key
  LIMIT $limit
  RETURN collect([event.key, coalesce(event.speaker, ''), left(event.text, $longest)]) AS events
}
RETURN
  tenant.state_version AS state_version,
  events,
  CASE WHEN size(events) < $limit THEN coalesce(last(keys), $after) ELSE $after END AS last_session,
  size(keys) < 50 AND size(events) < $limit AS complete
