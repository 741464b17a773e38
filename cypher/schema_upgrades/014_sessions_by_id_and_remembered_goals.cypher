// Find a session by its id, and the goals that `remember` stated, without reading all sessions and memories of a
// tenant.
//
// mode: schema
// row:  -
CREATE INDEX session_by_id IF NOT EXISTS
FOR (n:Session) ON (n.tenant_id, n.id_start);

CREATE INDEX memory_by_method IF NOT EXISTS
FOR (n:Memory) ON (n.tenant_id, n.extraction_method, n.kind);
