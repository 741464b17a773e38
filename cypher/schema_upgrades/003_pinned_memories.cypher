// Find the memories that belong to every pack without reading all of a tenant's memories.
//
// mode: schema
// row:  -
CREATE INDEX memory_pinned IF NOT EXISTS
FOR (n:Memory) ON (n.tenant_id, n.pinned);
