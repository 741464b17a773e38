// Note that a fingerprint left the tenant. The same state exported again is the same fingerprint.
//
// mode: write
// row:  fingerprint_id
MERGE (fingerprint:Fingerprint {key: $key})
  ON CREATE SET fingerprint = $properties, fingerprint.tenant_id = $tenant_id
RETURN fingerprint.fingerprint_id AS fingerprint_id
