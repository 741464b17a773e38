// Conflicts of a tenant by state.
//
// mode: schema
// row:  -
CREATE INDEX conflict_of_tenant IF NOT EXISTS
FOR (n:Conflict) ON (n.tenant_id, n.status)
