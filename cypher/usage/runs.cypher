// The tenant's latest compilations, newest first.
//
// mode: read
// row:  run
MATCH (run:CompileRun)
WHERE run.tenant_id = $tenant_id
RETURN properties(run) AS run
ORDER BY run.finished_us DESC, run.run_id
LIMIT $limit
