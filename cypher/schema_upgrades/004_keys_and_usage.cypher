// Constraints and indexes for API keys, usage by hour, and compilation reports.
//
// mode: schema
// row:  -

CREATE CONSTRAINT api_key IF NOT EXISTS
FOR (n:ApiKey) REQUIRE n.key IS UNIQUE;

// A request contains the secret of a key; only its hash is stored.
CREATE CONSTRAINT api_key_secret IF NOT EXISTS
FOR (n:ApiKey) REQUIRE n.secret_hash IS UNIQUE;

CREATE CONSTRAINT usage_hour_key IF NOT EXISTS
FOR (n:UsageHour) REQUIRE n.key IS UNIQUE;

CREATE CONSTRAINT compile_run_key IF NOT EXISTS
FOR (n:CompileRun) REQUIRE n.key IS UNIQUE;

CREATE INDEX api_key_of_tenant IF NOT EXISTS
FOR (n:ApiKey) ON (n.tenant_id, n.created_us);

CREATE INDEX usage_hour_of_tenant IF NOT EXISTS
FOR (n:UsageHour) ON (n.tenant_id, n.hour_us);

CREATE INDEX compile_run_of_tenant IF NOT EXISTS
FOR (n:CompileRun) ON (n.tenant_id, n.finished_us);
