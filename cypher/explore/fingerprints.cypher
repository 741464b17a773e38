// Fingerprints that came or went.
//
// Imported and exported fingerprints with their hashes.
//
// The direction is named for its index.
//
// mode: read
// row:  fingerprint
MATCH (fingerprint:Fingerprint {tenant_id: $tenant_id})
WHERE fingerprint.direction IS NOT NULL
RETURN fingerprint
ORDER BY fingerprint.key
