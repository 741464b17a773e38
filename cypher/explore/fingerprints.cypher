// Imported and exported fingerprints.
//
// Each with its hashes.
//
// The direction is named so that its index is used.
//
// mode: read
// row:  fingerprint
MATCH (fingerprint:Fingerprint {tenant_id: $tenant_id})
WHERE fingerprint.direction IS NOT NULL
RETURN fingerprint
ORDER BY fingerprint.key
