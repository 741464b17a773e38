// The stated or recorded policies in force, with which decisions are compared.
//
// mode: read
// row:  policy
MATCH (memory:Memory {tenant_id: $tenant_id, kind: 'policy'})
WHERE memory.status IN ['promoted', 'tentative']
RETURN properties(memory) AS policy
ORDER BY memory.key
