// Artifacts of a tenant by status.
//
// mode: schema
// row:  -
CREATE INDEX artifact_of_tenant IF NOT EXISTS
FOR (n:Artifact) ON (n.tenant_id, n.status)
