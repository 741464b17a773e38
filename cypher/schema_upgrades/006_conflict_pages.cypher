// List conflicts page by page, newest first, without reading all conflicts of a tenant.
//
// mode: schema
// row:  -
CREATE INDEX conflict_detected IF NOT EXISTS
FOR (n:Conflict) ON (n.tenant_id, n.status, n.detected_us);
