// Decisions and the feedback on them.
//
// Each decision with its feedback, latest first.
//
// A condition on the time lets the planner use the index of tenant and time.
//
// mode: read
// row:  timestamp, session_id, decided, said
MATCH (decision:Event {tenant_id: $tenant_id, event_type: 'decision'})
WHERE decision.time_us IS NOT NULL
OPTIONAL MATCH (feedback:Event {tenant_id: $tenant_id})-[:ABOUT]->(decision)
RETURN
  decision.timestamp AS timestamp,
  decision.session_id AS session_id,
  decision.text AS decided,
  feedback.text AS said
ORDER BY decision.time_us DESC, decision.event_id, feedback.event_id
