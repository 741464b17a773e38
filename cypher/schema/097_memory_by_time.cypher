// Memories of a tenant by the time at which they were first told: a page of the newest costs what it holds.
//
// mode: schema
// row:  -
CREATE INDEX memory_by_time IF NOT EXISTS
FOR (n:Memory) ON (n.tenant_id, n.first_us)
