// The policies in force that were stated or recorded, which decisions are compared with.
//
// mode: read
// row:  policy
MATCH (memory:Memory {tenant_id: $tenant_id, kind: 'policy'})
WHERE memory.status IN ['promoted', 'tentative']
RETURN properties(memory) AS policy
ORDER BY memory.key
