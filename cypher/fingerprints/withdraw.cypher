// Record that an import was withdrawn: its priors and compiler parameters are no longer in force.
//
// mode: write
// row:  -
MATCH (fingerprint:Fingerprint {key: $key})
WHERE fingerprint.tenant_id = $tenant_id
SET fingerprint.taken_back_us = $at_us
