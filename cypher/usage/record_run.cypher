// Store the report of a compilation under its run's id.
//
// mode: write
// row:  -
MERGE (run:CompileRun {key: $key})
  ON CREATE SET
    run.tenant_id = $tenant_id,
    run.run_id = $run_id,
    run.finished_us = $finished_us,
    run.report = $report
