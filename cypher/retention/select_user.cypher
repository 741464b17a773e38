// A page of the events that name a user, meet all other criteria and still have content, in order of time.
//
// $chosen.user_keys has the user's own key and a key that all users of the tenant share. Events that earlier releases
// stored, and events that name many users, are linked under the shared key only. So each event found is checked for the
// user's name: in its metadata or, if it states a memory, in its content, as in retention/select.
//
// The order inside CALL names both properties of the index, even user_key, which is equal for all its rows: only then
// does the planner read the index in order.
//
// mode: read
// row:  key, place, time_us, event_id, event_hash, session_key, sequence
UNWIND $chosen.user_keys AS user_key
CALL (user_key) {
  MATCH (event:Event)-[named:NAMES_USER]->(:Session)
  USING INDEX SEEK named:NAMES_USER(user_key, time_us)
  WHERE named.user_key = user_key
    AND named.time_us >= $after
    AND [event.time_us, event.key] > [$after, $after_key]
    AND event.tenant_id = $tenant_id
    AND event.time_us < coalesce($chosen.before_us, 9223372036854775807)
    AND ($chosen.expired_us IS NULL OR event.expires_us <= $chosen.expired_us)
    AND event.agent_id = coalesce($chosen.agent_id, event.agent_id)
    AND ($chosen.source IS NULL OR event.source = $chosen.source)
    AND any(words IN $chosen.naming WHERE
      toLower(event.metadata) CONTAINS words
      OR (event.event_type = 'x-hmxgraph-memory' AND toLower(event.content) CONTAINS words))
  WITH event, named
  ORDER BY named.user_key, named.time_us, event.key
  LIMIT $limit
  RETURN event
}
WITH event
ORDER BY event.time_us, event.key
LIMIT $limit
RETURN
  event.key AS key,
  event.time_us AS place,
  event.time_us AS time_us,
  event.event_id AS event_id,
  event.event_hash AS event_hash,
  event.session_key AS session_key,
  event.sequence AS sequence
ORDER BY event.time_us, event.key
