// A page of the keys of the tenant's conflicts as of a time, open or resolved or both, newest first, as one row.
//
// The state is the one at that time; *standing* names the states now that it may come from. With all properties of the
// index in the order, each of them is read from its newest end, and only until the page is full. *known* tells whether
// $after_key is the key of a conflict, after which the page starts.
//
// mode: read
// row:  keys, known
OPTIONAL MATCH (last:Conflict {key: $after_key})
WHERE last.tenant_id = $tenant_id
WITH
  last IS NOT NULL AS known,
  coalesce(last.detected_us, $as_of_us) AS after_us,
  coalesce(last.conflict_id, '') AS after_id
CALL (after_us, after_id) {
  UNWIND $standing AS stored
  CALL (stored, after_us, after_id) {
    MATCH (conflict:Conflict)
    USING INDEX SEEK conflict:Conflict(tenant_id, status, detected_us)
    WHERE conflict.tenant_id = $tenant_id AND conflict.status = stored
      AND conflict.detected_us <= CASE WHEN after_us < $as_of_us THEN after_us ELSE $as_of_us END
      AND [-conflict.detected_us, conflict.conflict_id] > [-after_us, after_id]
      AND ($status IS NULL OR $status = CASE WHEN conflict.resolved_us <= $as_of_us THEN 'resolved' ELSE 'open' END)
    WITH conflict
    ORDER BY conflict.tenant_id DESC, conflict.status DESC, conflict.detected_us DESC, conflict.conflict_id
    LIMIT $limit
    RETURN conflict
  }
  WITH conflict
  ORDER BY conflict.detected_us DESC, conflict.conflict_id
  LIMIT $limit
  RETURN collect(conflict.key) AS keys
}
RETURN keys, known
