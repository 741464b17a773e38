// Record that an import was withdrawn: its priors and compiler parameters are no longer in force.
//
// mode: write
// row:  fingerprint_id
MATCH (fingerprint:Fingerprint {key: $key})
WHERE fingerprint.tenant_id = $tenant_id
SET fingerprint.taken_back_us = $at_us
RETURN fingerprint.fingerprint_id AS fingerprint_id
