// The tenant's latest compilations, newest first.
//
// The time is named so that the index of tenant and time is used.
//
// mode: read
// row:  run
MATCH (run:CompileRun)
WHERE run.tenant_id = $tenant_id AND run.finished_us IS NOT NULL
RETURN properties(run) AS run
ORDER BY run.finished_us DESC, run.run_id
LIMIT $limit
