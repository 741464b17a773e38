// Take the next step of a restore, once: no row if the step was taken before and its answer lost, or if another restore
// took over the marker.
//
// mode: write
// row:  step
MATCH (marker:Awaited {key: $key, tenant_id: $tenant_id})
WHERE marker.run = $run AND marker.step = $step - 1
SET marker.step = $step
RETURN marker.step AS step
ORDER BY step
