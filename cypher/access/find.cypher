// The API key whose secret has this hash, whichever tenant it opens: one row at most.
//
// mode: read
// row:  access
MATCH (access:ApiKey {secret_hash: $secret_hash})
RETURN properties(access) AS access
