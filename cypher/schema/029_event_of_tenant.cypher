// Events of a tenant by time.
//
// mode: schema
// row:  -
CREATE INDEX event_of_tenant IF NOT EXISTS
FOR (n:Event) ON (n.tenant_id, n.time_us)
