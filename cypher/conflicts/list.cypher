// The keys of the tenant's conflicts as of a time, open or resolved or both, newest first.
//
// The state is the one at that time; if that is now, the index narrows the search to it.
//
// mode: read
// row:  key
MATCH (conflict:Conflict)
USING INDEX SEEK conflict:Conflict(tenant_id, status)
WHERE conflict.tenant_id = $tenant_id AND conflict.status IN $standing AND conflict.detected_us <= $as_of_us
WITH conflict, CASE WHEN conflict.resolved_us <= $as_of_us THEN 'resolved' ELSE 'open' END AS status
WHERE $status IS NULL OR status = $status
RETURN conflict.key AS key
ORDER BY conflict.detected_us DESC, conflict.conflict_id
