// Take the next step of a restore, once: no row if it was taken before and its answer was lost, or if another restore
// took over.
//
// mode: write
// row:  step
MATCH (mark:Awaited {key: $key, tenant_id: $tenant_id})
WHERE mark.run = $run AND mark.step = $step - 1
SET mark.step = $step
RETURN mark.step AS step
ORDER BY step
