// Artifacts of a tenant by the time since which they are visible: a page of the newest costs what it holds.
//
// mode: schema
// row:  -
CREATE INDEX artifact_recorded IF NOT EXISTS
FOR (n:Artifact) ON (n.tenant_id, n.recorded_us)
