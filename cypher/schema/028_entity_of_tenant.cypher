// Entities of a tenant by type.
//
// mode: schema
// row:  -
CREATE INDEX entity_of_tenant IF NOT EXISTS
FOR (n:Entity) ON (n.tenant_id, n.type)
