// Mark a restore or a replay as unfinished: create its marker node, or take over that of an interrupted one.
//
// A new run id tells the steps of this restore from those of the interrupted one, which may still be running.
//
// mode: write
// row:  id, run
MERGE (marker:Awaited {key: $key})
SET marker.tenant_id = $tenant_id,
    marker.run = randomUUID(),
    marker.step = 0
RETURN elementId(marker) AS id, marker.run AS run
ORDER BY id
