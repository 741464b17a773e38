// Create the nodes of a backup as they were; returns the server's id of each with its id in the backup.
//
// mode: write
// row:  id, restored_id
UNWIND $batch.nodes AS row
CREATE (node:$(row.labels))
SET node = row.properties
SET node.tenant_id = $tenant_id
RETURN row.id AS id, elementId(node) AS restored_id
ORDER BY id
