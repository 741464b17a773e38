// The stated or recorded policies in force, with which decisions are compared; proposals are left out.
//
// mode: read
// row:  policy
MATCH (memory:Memory {tenant_id: $tenant_id, kind: 'policy'})
WHERE memory.status IN ['promoted', 'tentative'] AND memory.proposed IS NULL
RETURN properties(memory) AS policy
ORDER BY memory.key
