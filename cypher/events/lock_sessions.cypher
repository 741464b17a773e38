// Lock the sessions of a batch, in key order so that writers queue up instead of blocking each other in a ring.
//
// Writing a property takes the lock; what is returned was read after that and cannot change until the commit.
//
// mode: write
// row:  key, event_count, first_us, last_us, head, tail, outcome_order, marks
UNWIND $batch.sessions AS row
MERGE (session:Session {key: row.key})
  ON CREATE SET
    session.session_id = row.session_id,
    session.event_count = 0
SET session.tenant_id = $tenant_id
RETURN
  session.key AS key,
  session.event_count AS event_count,
  session.first_us AS first_us,
  session.last_us AS last_us,
  [session.head_sequence, session.head_us, session.head_id, session.head_key] AS head,
  [session.tail_sequence, session.tail_us, session.tail_id, session.tail_key] AS tail,
  coalesce(session.outcome_order, []) AS outcome_order,
  coalesce(session.marks, []) AS marks
ORDER BY key
