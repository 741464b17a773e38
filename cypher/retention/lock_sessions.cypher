// Lock the sessions of the events that are to be erased, in key order like all writers, and remove what was derived
// from them.
//
// A session whose outcome came from an erased feedback event loses the outcome.
//
// mode: write
// row:  key
UNWIND $batch.sessions AS row
MATCH (session:Session {key: row.key, tenant_id: $tenant_id})
SET
  session.marks = [],
  session.summary = null,
  session.summary_us = null,
  session.summary_version = null,
  session.behaviour = null,
  session.behaviour_version = null,
  session.outcome = CASE WHEN session.outcome_order IN row.orders THEN null ELSE session.outcome END,
  session.outcome_order = CASE WHEN session.outcome_order IN row.orders THEN null ELSE session.outcome_order END
RETURN session.key AS key
ORDER BY key
