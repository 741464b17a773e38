// Reports of a tenant by time.
//
// mode: schema
// row:  -
CREATE INDEX pack_report_of_tenant IF NOT EXISTS
FOR (n:PackReport) ON (n.tenant_id, n.at_us)
