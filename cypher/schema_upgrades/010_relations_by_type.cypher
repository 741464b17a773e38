// Find the relations that may exclude each other without reading all relations of a tenant.
//
// mode: schema
// row:  -
CREATE INDEX relation_of_type IF NOT EXISTS
FOR ()-[r:RELATES_TO]-() ON (r.tenant_id, r.relation_type);
