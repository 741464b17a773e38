// Find a session by its id without reading all of a tenant's.
//
// mode: schema
// row:  -
CREATE INDEX session_by_id IF NOT EXISTS
FOR (n:Session) ON (n.tenant_id, n.id_start);
