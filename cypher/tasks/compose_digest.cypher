// Write a fresh digest: the same record as before, with the current content of its sources.
//
// The caller locks the tenant's node before reading the sources, and every writer of a source locks it before marking
// digests stale, so no change is missed between reading and writing.
//
// mode: write
// row:  -
MERGE (digest:TaskRecord {key: $batch.digest.key})
SET digest = $batch.digest, digest.tenant_id = $tenant_id
WITH digest
CALL (digest) {
  MATCH (digest)-[old:ON_TASK|RELATED_TO|HAS_FACET]->()
  DELETE old
}
CALL (digest) {
  MATCH (task:Task {key: $task_key, tenant_id: $tenant_id})
  CREATE (digest)-[:ON_TASK {tenant_id: $tenant_id}]->(task)
}
CALL (digest) {
  UNWIND $batch.facets AS row
  MERGE (facet:Facet {key: row.key})
    ON CREATE SET facet.tenant_id = $tenant_id, facet.name = row.properties.name
  CREATE (digest)-[:HAS_FACET {tenant_id: $tenant_id, facet_key: row.key, created_us: digest.created_us}]->(facet)
}
CALL (digest) {
  UNWIND $batch.source_keys AS key
  MATCH (source:TaskRecord {key: key, tenant_id: $tenant_id})
  CREATE (digest)-[:RELATED_TO {tenant_id: $tenant_id, relation_kind: 'digests'}]->(source)
}
