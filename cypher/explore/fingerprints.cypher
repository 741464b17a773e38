// Imported and exported fingerprints.
//
// Each with its hashes.
//
// A condition on the direction lets the planner use the index of tenant and direction.
//
// mode: read
// row:  fingerprint
MATCH (fingerprint:Fingerprint {tenant_id: $tenant_id})
WHERE fingerprint.direction IS NOT NULL
RETURN fingerprint
ORDER BY fingerprint.key
