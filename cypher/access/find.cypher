// The API key whose secret has this hash, of any tenant: at most one row.
//
// mode: read
// row:  access
MATCH (access:ApiKey {secret_hash: $secret_hash})
RETURN properties(access) AS access
