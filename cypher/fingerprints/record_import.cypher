// Store an import's fingerprint. If another importer stored it since the caller read, the uniqueness constraint rejects
// it.
//
// mode: write
// row:  -
CREATE (fingerprint:Fingerprint)
SET fingerprint = $properties
SET fingerprint.tenant_id = $tenant_id
