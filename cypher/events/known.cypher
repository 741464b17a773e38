// The part of a batch that is already stored, read before anything is locked: one row.
//
// *signatures* are the kinds of events that the tenant has seen: an event of a new kind gets more salience. A batch
// with nothing new ends here and writes nothing. The sessions' counts are compared after they are locked: if they have
// not changed, this row is used as it is. If another writer has stored one of the events in another session, its key
// collides, and the transaction is retried. Lists are wrapped in one map, here and in the other statements of a batch:
// the plan cache keys a list parameter by its size, and would plan the statement again for every combination of sizes.
//
// mode: read
// row:  events, sessions, signatures
CALL () {
  MATCH (event:Event)
  WHERE event.key IN $batch.event_keys AND event.tenant_id = $tenant_id
  RETURN collect([event.key, event.event_hash]) AS events
}
CALL () {
  MATCH (session:Session)
  WHERE session.key IN $batch.session_keys AND session.tenant_id = $tenant_id
  RETURN collect([session.key, session.event_count]) AS sessions
}
OPTIONAL MATCH (tenant:Tenant {key: $tenant_key, tenant_id: $tenant_id})
RETURN events, sessions, coalesce(tenant.signatures, []) AS signatures
