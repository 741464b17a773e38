// Lock the sessions of a batch, and the stored answers to the same questions as its own: one row. An answer is a memory
// that holds until another takes its place, such as where somebody lives; slot_key identifies the question.
//
// Sessions and answers come in key order, so that writers queue up instead of deadlocking. Writing a property takes the
// lock; for an answer, the write must not read what it sets, because that would lock the relationships of the node
// first (see events/record). The row is read after that and cannot change until the commit.
//
// The stored part of the batch is read again only if a session does not have the expected number of events: it was
// written to since events/known, or the caller did not send events/known.
//
// An answer that was retired by hand, or that lost a conflict, keeps its position in the chain but is never observed
// again. A memory that replaced an answer by hand without answering the same question keeps its position too: that link
// is not part of the chain. If the batch has another answer between two observations of a stored one, the observations
// are returned as assertions, because the stored answer may have to be split. Memories that lost a conflict against an
// answer are returned with it, so that stating one of them again is an observation of that memory, not a new
// contradiction.
//
// mode: write
// row:  sessions, events, signatures, answers
CALL () {
  UNWIND $batch.sessions AS row
  MERGE (session:Session {key: row.key})
    ON CREATE SET
      session.session_id = row.session_id,
      session.id_start = left(row.session_id, 200),
      session.event_count = 0
  SET session.tenant_id = $tenant_id
  RETURN
    collect({
      key: session.key,
      event_count: session.event_count,
      first_us: session.first_us,
      last_us: session.last_us,
      head: [session.head_sequence, session.head_us, session.head_id, session.head_key],
      tail: [session.tail_sequence, session.tail_us, session.tail_id, session.tail_key],
      outcome_order: coalesce(session.outcome_order, []),
      marks: coalesce(session.marks, []),
      user_keys: coalesce(session.user_keys, [])
    }) AS sessions,
    sum(CASE WHEN session.event_count = row.expected THEN 0 ELSE 1 END) > 0 AS changed
}
CALL (changed) {
  WITH changed
  WHERE changed
  MATCH (event:Event)
  WHERE event.key IN $batch.event_keys AND event.tenant_id = $tenant_id
  RETURN collect([event.key, event.event_hash, event.event_type, event.content, event.sequence]) AS events
}
CALL (changed) {
  WITH changed
  WHERE changed
  MATCH (tenant:Tenant {key: $tenant_key, tenant_id: $tenant_id})
  RETURN collect(tenant.signatures) AS signatures
}
CALL () {
  MATCH (memory:Memory)
  WHERE memory.slot_key IN $batch.slot_keys AND memory.tenant_id = $tenant_id
  WITH memory
  ORDER BY memory.key
  SET memory.tenant_id = $tenant_id
  WITH
    memory,
    coalesce(memory.retired, false)
      OR memory.status = 'contradicted'
      OR (memory.status = 'deprecated' AND memory.head_key IS NOT NULL) AS retired
  ORDER BY memory.slot_key, memory.first_us, memory.key
  RETURN collect({
    slot_key: memory.slot_key,
    key: memory.key,
    memory_id: memory.memory_id,
    text: memory.text,
    answer: CASE WHEN retired THEN memory.answer + ' (retired)' ELSE memory.answer END,
    first_us: memory.first_us,
    last_us: memory.last_us,
    said_by: CASE
      WHEN memory.predicate = 'name' AND memory.owner IS NOT NULL THEN memory.answer
      WHEN memory.kind = 'fact' AND coalesce(memory.predicate, '') = '' THEN memory.answer
      ELSE coalesce(memory.said_by, '')
    END,
    hard: coalesce(memory.hard, false) AND memory.extraction_method = 'remembered',
    assertions: COLLECT {
      MATCH (memory)-[:EVIDENCED_BY]->(event:Event)
      WHERE NOT retired AND any(other IN $batch.answers[memory.slot_key]
        WHERE memory.first_us < other[0] AND other[0] < memory.last_us AND other[1] <> memory.answer)
      WITH DISTINCT event
      ORDER BY event.time_us, event.key
      RETURN [event.time_us, event.key]
    },
    replaced: EXISTS {
      MATCH (successor:Memory)-[:SUPERSEDES]->(memory)
      WHERE coalesce(successor.slot_key, '') <> memory.slot_key
    },
    in_place_of: head(COLLECT {
      MATCH (memory)-[:SUPERSEDES]->(other:Memory)
      WHERE coalesce(other.slot_key, '') <> memory.slot_key
      RETURN other.key
    }),
    losers: COLLECT {
      MATCH (memory)<-[:BETWEEN]-(conflict:Conflict)-[:BETWEEN]->(loser:Memory)
      WHERE conflict.kept_id = memory.memory_id AND loser.status = 'contradicted' AND loser.slot_key IS NULL
      WITH DISTINCT loser
      ORDER BY loser.key
      RETURN [loser.answer, loser.memory_id]
    }
  }) AS answers
}
RETURN sessions, events, head(signatures) AS signatures, answers
