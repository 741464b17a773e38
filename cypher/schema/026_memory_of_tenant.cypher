// Memories of a tenant by kind.
//
// mode: schema
// row:  -
CREATE INDEX memory_of_tenant IF NOT EXISTS
FOR (n:Memory) ON (n.tenant_id, n.kind)
