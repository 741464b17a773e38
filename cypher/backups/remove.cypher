// Remove nodes with their relationships: what an interrupted restore left behind, or the marker of a finished one.
//
// mode: write
// row:  -
UNWIND $ids AS node_id
MATCH (node)
WHERE elementId(node) = node_id AND node.tenant_id = $tenant_id
DETACH DELETE node
