// Store an import: the fingerprint's node. Uniqueness of its key refuses what another importer stored since we looked.
//
// mode: write
// row:  fingerprint_id
CREATE (fingerprint:Fingerprint)
SET fingerprint = $properties
SET fingerprint.tenant_id = $tenant_id
RETURN fingerprint.fingerprint_id AS fingerprint_id
