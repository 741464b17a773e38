// Note that an import was taken back: its priors and compiler parameters are in force no longer.
//
// mode: write
// row:  fingerprint_id
MATCH (fingerprint:Fingerprint {key: $key})
WHERE fingerprint.tenant_id = $tenant_id
SET fingerprint.taken_back_us = $at_us
RETURN fingerprint.fingerprint_id AS fingerprint_id
