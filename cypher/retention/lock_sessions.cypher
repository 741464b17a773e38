// Lock the sessions of the events to be erased, in key order as everybody does, and drop what was derived from them.
//
// A session whose outcome came from a feedback that goes loses the outcome.
//
// mode: write
// row:  key
UNWIND $batch.sessions AS row
MATCH (session:Session {key: row.key, tenant_id: $tenant_id})
SET
  session.marks = [],
  session.summary = null,
  session.summary_version = null,
  session.behaviour = null,
  session.behaviour_version = null,
  session.outcome = CASE WHEN session.outcome_order IN row.orders THEN null ELSE session.outcome END,
  session.outcome_order = CASE WHEN session.outcome_order IN row.orders THEN null ELSE session.outcome_order END
RETURN session.key AS key
ORDER BY key
