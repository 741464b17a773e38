// Fingerprints that came or went.
//
// Imported and exported fingerprints with their hashes.
//
// mode: read
// row:  fingerprint
MATCH (fingerprint:Fingerprint {tenant_id: $tenant_id})
RETURN fingerprint
ORDER BY fingerprint.key
