// Create the relationships of a backup between restored nodes.
//
// mode: write
// row:  -
UNWIND $batch.links AS row
MATCH (source)
WHERE elementId(source) = row.source_id AND source.tenant_id = $tenant_id
MATCH (target)
WHERE elementId(target) = row.target_id AND target.tenant_id = $tenant_id
CREATE (source)-[link:$(row.type)]->(target)
SET link = row.properties
