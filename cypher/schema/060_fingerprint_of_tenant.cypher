// Fingerprints of a tenant that came or went.
//
// mode: schema
// row:  -
CREATE INDEX fingerprint_of_tenant IF NOT EXISTS
FOR (n:Fingerprint) ON (n.tenant_id, n.direction)
