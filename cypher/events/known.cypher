// What is stored already of a batch, before anything is locked: one row.
//
// A batch that holds nothing new ends here and writes nothing. The counts of its sessions are compared after they
// were locked: where they have not moved, what was read here still holds.
//
// Lists travel inside one map here and in the other statements of a batch: the plan cache keys a list parameter by its
// size, and would plan the statement anew for every combination of sizes.
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
OPTIONAL MATCH (tenant:Tenant {key: $tenant_key})
RETURN events, sessions, coalesce(tenant.signatures, []) AS signatures
