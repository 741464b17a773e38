// The visible events of several small sessions, session by session, each in its total order.
//
// The pattern starts at the session: with statistics from large sessions only, the planner would scan all events.
//
// mode: read
// row:  session_key, event
UNWIND $session_keys AS session_key
CALL (session_key) {
  MATCH (session:Session {key: session_key})<-[:IN_SESSION]-(event:Event)
  WHERE session.tenant_id = $tenant_id AND event.tenant_id = $tenant_id AND event.erased IS NULL AND event.ahead IS NULL
  RETURN event
  ORDER BY event.sequence, event.time_us, event.event_id
}
RETURN
  session_key,
  event {
    .event_id, .event_type, .agent_id, .session_id, .sequence, .time_us,
    .content, .source, .correlation_id, .parent_event_id,
    metadata: CASE WHEN event.metadata CONTAINS '"origin"' THEN event.metadata END
  } AS event
ORDER BY session_key, event.sequence, event.time_us, event.event_id
