// Remove what an interrupted restore left behind.
//
// mode: write
// row:  removed
MATCH (node)
WHERE elementId(node) IN $ids AND node.tenant_id = $tenant_id
DETACH DELETE node
RETURN count(*) AS removed
