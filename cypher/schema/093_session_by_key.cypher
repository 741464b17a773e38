// Sessions of a tenant in the order of their keys: a page of them goes on where the last one ended.
//
// mode: schema
// row:  -
CREATE INDEX session_by_key IF NOT EXISTS
FOR (n:Session) ON (n.tenant_id, n.key)
