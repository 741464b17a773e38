// A page of the expired events that meet all other criteria and still have content, in order of expiry.
//
// An erased event has no expiry, so the index holds only what is still to be erased. Within one instant the page
// continues by key; with the tenant in ORDER BY, the index is read in order.
//
// An event names the user to be erased if its metadata, or the content of a stated memory, contains one of
// $chosen.naming.
//
// mode: read
// row:  key, place, time_us, event_id, event_hash, session_key, sequence
MATCH (event:Event)
USING INDEX SEEK event:Event(tenant_id, expires_us)
WHERE event.tenant_id = $tenant_id
  AND event.expires_us >= $after
  AND event.expires_us <= $chosen.expired_us
  AND [event.expires_us, event.key] > [$after, $after_key]
  AND event.erased IS NULL
  AND event.time_us < coalesce($chosen.before_us, 9223372036854775807)
  AND event.agent_id = coalesce($chosen.agent_id, event.agent_id)
  AND ($chosen.source IS NULL OR event.source = $chosen.source)
  AND ($chosen.naming IS NULL OR any(words IN $chosen.naming WHERE
    toLower(event.metadata) CONTAINS words
    OR (event.event_type = 'x-hmxgraph-memory' AND toLower(event.content) CONTAINS words)))
WITH event
ORDER BY event.tenant_id, event.expires_us, event.key
LIMIT $limit
RETURN
  event.key AS key,
  event.expires_us AS place,
  event.time_us AS time_us,
  event.event_id AS event_id,
  event.event_hash AS event_hash,
  event.session_key AS session_key,
  event.sequence AS sequence
ORDER BY event.expires_us, event.key
