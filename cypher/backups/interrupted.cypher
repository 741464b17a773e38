// The marker node of a restore or replay, which creates it first and removes it last: one row if it was interrupted, or
// is going on.
//
// mode: read
// row:  id, run
MATCH (marker:Awaited {key: $key, tenant_id: $tenant_id})
RETURN elementId(marker) AS id, marker.run AS run
ORDER BY id
