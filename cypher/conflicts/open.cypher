// Store the conflicts that are not stored yet, as open; sides that are artifacts must still be active.
//
// A resolved conflict stays resolved: its id follows from its kind and sides. If another writer stored the same one
// since the caller read, the uniqueness constraint rejects it and the caller reads again. The list is wrapped in a map
// because the plan cache keys a list parameter by its size.
//
// mode: write
// row:  conflict_id
UNWIND $batch.conflicts AS row
WITH row
WHERE NOT EXISTS { MATCH (known:Conflict {key: row.key}) WHERE known.tenant_id = $tenant_id }
  AND NOT EXISTS {
    MATCH (inactive:Artifact)
    WHERE inactive.key IN row.artifact_keys AND inactive.tenant_id = $tenant_id AND inactive.status <> 'active'
  }
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
CALL (conflict, row) {
  MATCH (side:Entity)
  WHERE side.key IN row.entity_keys AND side.tenant_id = $tenant_id
  CREATE (conflict)-[:BETWEEN {tenant_id: $tenant_id}]->(side)
}
RETURN conflict.conflict_id AS conflict_id
ORDER BY conflict_id
