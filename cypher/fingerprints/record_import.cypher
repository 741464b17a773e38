// Store an import's fingerprint. If another importer stored it since the caller read, the uniqueness constraint rejects
// it.
//
// mode: write
// row:  fingerprint_id
CREATE (fingerprint:Fingerprint)
SET fingerprint = $properties
SET fingerprint.tenant_id = $tenant_id
RETURN fingerprint.fingerprint_id AS fingerprint_id
