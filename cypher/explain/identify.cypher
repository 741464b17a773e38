// The record with an id: an artifact, a memory, an event, a conflict, a task record or an entity, in this order. An
// entity's id is its key.
//
// mode: read
// row:  kind, record
CALL () {
  MATCH (artifact:Artifact {key: $key, tenant_id: $tenant_id})
  RETURN 1 AS place, 'artifact' AS kind, artifact AS node
  UNION
  MATCH (memory:Memory {key: $key, tenant_id: $tenant_id})
  RETURN 2 AS place, 'memory' AS kind, memory AS node
  UNION
  MATCH (event:Event {key: $key, tenant_id: $tenant_id})
  RETURN 3 AS place, 'event' AS kind, event AS node
  UNION
  MATCH (conflict:Conflict {key: $key, tenant_id: $tenant_id})
  RETURN 4 AS place, 'conflict' AS kind, conflict AS node
  UNION
  MATCH (record:TaskRecord {key: $key, tenant_id: $tenant_id})
  RETURN 5 AS place, 'task_record' AS kind, record AS node
  UNION
  MATCH (entity:Entity {key: $name, tenant_id: $tenant_id})
  RETURN 6 AS place, 'entity' AS kind, entity AS node
}
WITH place, kind, node
WHERE node.tenant_id = $tenant_id
RETURN kind, properties(node) AS record
ORDER BY place, node.key
