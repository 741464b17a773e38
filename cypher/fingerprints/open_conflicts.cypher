// Store conflicts between imported drafts and artifacts in force as open, unless they are stored already.
//
// They are not resolved here: drafts are not retrieved, so a conflict waits until somebody activates the draft.
//
// mode: write
// row:  conflict_id
UNWIND $conflicts AS row
WITH row
WHERE NOT EXISTS { MATCH (known:Conflict {key: row.key}) WHERE known.tenant_id = $tenant_id }
CREATE (conflict:Conflict)
SET conflict = row.properties
SET conflict.tenant_id = $tenant_id
WITH conflict, row
CALL (conflict, row) {
  MATCH (side:Artifact)
  WHERE side.key IN row.artifact_keys AND side.tenant_id = $tenant_id
  CREATE (conflict)-[:BETWEEN {tenant_id: $tenant_id}]->(side)
}
CALL (conflict, row) {
  MATCH (side:Memory)
  WHERE side.key IN row.memory_keys AND side.tenant_id = $tenant_id
  CREATE (conflict)-[:BETWEEN {tenant_id: $tenant_id}]->(side)
}
RETURN conflict.conflict_id AS conflict_id
ORDER BY conflict_id
