// Store an API key; a key that is already stored stays unchanged.
//
// Only the hash of the secret is stored. A key's tenant is fixed when it is created.
//
// mode: write
// row:  -
MERGE (access:ApiKey {key: $key})
  ON CREATE SET
    access.tenant_id = $tenant_id,
    access.key_id = $key_id,
    access.secret_hash = $secret_hash,
    access.scopes = $scopes,
    access.label = $label,
    access.agent_id = $agent_id,
    access.created_us = $created_us,
    access.expires_us = $expires_us
