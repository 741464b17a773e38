// A page of the sessions whose counts are missing, or made before their last change or by other rules, in key order.
//
// With tenant and key in ORDER BY, the index is read in order and only the rows returned are read. Lists are compared
// because OR would be planned branch by branch, which loses the order.
//
// mode: read
// row:  session_key, event_count, version
MATCH (session:Session)
USING INDEX SEEK session:Session(tenant_id, key)
WHERE session.tenant_id = $tenant_id
  AND session.key > $after
  AND session.changed_version IS NOT NULL
  AND [coalesce(session.behaviour_version, -1), coalesce(session.behaviour_rules, 0)] <> [session.changed_version, $rules]
WITH session
ORDER BY session.tenant_id, session.key
LIMIT $limit
RETURN
  session.key AS session_key,
  session.event_count AS event_count,
  session.changed_version AS version
ORDER BY session.key
