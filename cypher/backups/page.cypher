// A page of a backup: nodes with all their properties and outgoing relationships.
//
// mode: read
// row:  id, labels, properties, outgoing
UNWIND $ids AS node_id
MATCH (node)
WHERE elementId(node) = node_id AND node.tenant_id = $tenant_id
RETURN
  elementId(node) AS id,
  labels(node) AS labels,
  properties(node) AS properties,
  [(node)-[link]->(other) WHERE other.tenant_id = $tenant_id |
    [type(link), elementId(other), properties(link)]] AS outgoing
ORDER BY id
