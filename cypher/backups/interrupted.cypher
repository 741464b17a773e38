// The marker node that a restore or replay creates first and removes last: one row if it was interrupted, or is going
// on.
//
// mode: read
// row:  id, run
MATCH (mark:Awaited {key: $key, tenant_id: $tenant_id})
RETURN elementId(mark) AS id, mark.run AS run
ORDER BY id
