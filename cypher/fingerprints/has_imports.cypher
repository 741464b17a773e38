// The number of the tenant's imports that are not withdrawn: one row.
//
// mode: read
// row:  imports
MATCH (fingerprint:Fingerprint {tenant_id: $tenant_id, direction: 'imported'})
WHERE fingerprint.taken_back_us IS NULL
RETURN count(*) AS imports
