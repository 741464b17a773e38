// The schema version of this database, in one row; null where no released version has prepared it.
//
// *used* is true if it has tenants without a version: a development version from before the first release wrote them.
//
// mode: read
// row:  version, release, used
OPTIONAL MATCH (schema:SchemaVersion {name: 'hmxgraph'})
RETURN
  schema.version AS version,
  schema.release AS release,
  schema IS NULL AND EXISTS { (tenant:Tenant) WHERE tenant.state_version IS NOT NULL } AS used
