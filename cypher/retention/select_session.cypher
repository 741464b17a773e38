// A page of a session's events that meet all other criteria and still have content, in the session's order.
//
// Within one sequence number the page continues by key; with the session in ORDER BY, the index is read in order. With
// many alternatives the planner makes a union that must be sorted, so each criterion is written to be true if not
// given.
//
// An event names the user to be erased if its metadata, or the content of a stated memory, contains one of
// $chosen.naming.
//
// mode: read
// row:  key, place, time_us, event_id, event_hash, session_key, sequence
MATCH (event:Event)
USING INDEX SEEK event:Event(session_key, sequence)
WHERE event.session_key = $chosen.session_key
  AND event.tenant_id = $tenant_id
  AND event.sequence >= $after
  AND [event.sequence, event.key] > [$after, $after_key]
  AND event.erased IS NULL
  AND event.time_us < coalesce($chosen.before_us, 9223372036854775807)
  AND ($chosen.expired_us IS NULL OR event.expires_us <= $chosen.expired_us)
  AND event.agent_id = coalesce($chosen.agent_id, event.agent_id)
  AND ($chosen.source IS NULL OR event.source = $chosen.source)
  AND ($chosen.naming IS NULL OR any(words IN $chosen.naming WHERE
    toLower(event.metadata) CONTAINS words
    OR (event.event_type = 'x-hmxgraph-memory' AND toLower(event.content) CONTAINS words)))
WITH event
ORDER BY event.session_key, event.sequence, event.key
LIMIT $limit
RETURN
  event.key AS key,
  event.sequence AS place,
  event.time_us AS time_us,
  event.event_id AS event_id,
  event.event_hash AS event_hash,
  event.session_key AS session_key,
  event.sequence AS sequence
ORDER BY event.sequence, event.key
