// A page of the keys of the tenant's conflicts as of a time, open or resolved or both, newest first, as one row.
//
// $status is the one at that time; $standing lists the statuses that conflicts with that status may have now. Places
// sort conflicts by time of detection, newest first, so the index is read only until the page is full. $newest sorts
// before the places of all conflicts detected by then. If $after_key is the key of a conflict, *known* is true, and the
// page starts after it.
//
// mode: read
// row:  keys, known
OPTIONAL MATCH (last:Conflict {key: $after_key})
WHERE last.tenant_id = $tenant_id
WITH last IS NOT NULL AS known, CASE WHEN last.place > $newest THEN last.place ELSE $newest END AS start
CALL (start) {
  UNWIND $standing AS present_status
  CALL (present_status, start) {
    MATCH (conflict:Conflict)
    USING INDEX SEEK conflict:Conflict(tenant_id, status, place)
    WHERE conflict.tenant_id = $tenant_id AND conflict.status = present_status AND conflict.place > start
      AND ($status IS NULL OR $status = CASE WHEN conflict.resolved_us <= $as_of_us THEN 'resolved' ELSE 'open' END)
    WITH conflict
    ORDER BY conflict.tenant_id, conflict.status, conflict.place
    LIMIT $limit
    RETURN conflict
  }
  WITH conflict
  ORDER BY conflict.place
  LIMIT $limit
  RETURN collect(conflict.key) AS keys
}
RETURN keys, known
