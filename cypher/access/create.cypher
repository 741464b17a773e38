// Store an API key; a key that is stored already stays as it is.
//
// Only the hash of the secret is stored. The tenant of a key is fixed when it is made.
//
// mode: write
// row:  key_id
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
RETURN access.key_id AS key_id
