// The node that a restore creates first and removes last: one row if it was interrupted.
//
// mode: read
// row:  id
MATCH (mark:Awaited {key: $key, tenant_id: $tenant_id})
RETURN elementId(mark) AS id
ORDER BY id
