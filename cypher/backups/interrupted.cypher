// The marker node of a restore or replay: one row if one was interrupted or is running. It is the first node to be
// created and the last to be removed.
//
// mode: read
// row:  id, run
MATCH (marker:Awaited {key: $key, tenant_id: $tenant_id})
RETURN elementId(marker) AS id, marker.run AS run
ORDER BY id
