// The tenant's latest compilations, at most $limit, newest first.
//
// A condition on the time lets the planner use the index of tenant and time.
//
// mode: read
// row:  run
MATCH (run:CompileRun)
WHERE run.tenant_id = $tenant_id AND run.finished_us IS NOT NULL
RETURN properties(run) AS run
ORDER BY run.finished_us DESC, run.run_id
LIMIT $limit
