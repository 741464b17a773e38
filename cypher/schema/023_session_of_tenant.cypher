// Sessions of a tenant that changed since a version of its state.
//
// mode: schema
// row:  -
CREATE INDEX session_of_tenant IF NOT EXISTS
FOR (n:Session) ON (n.tenant_id, n.changed_version)
