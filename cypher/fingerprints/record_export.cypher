// Record that a fingerprint was exported. Exporting the same state again gives the same fingerprint.
//
// mode: write
// row:  -
MERGE (fingerprint:Fingerprint {key: $key})
  ON CREATE SET fingerprint = $properties, fingerprint.tenant_id = $tenant_id
