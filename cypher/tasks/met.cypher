// What a new record meets, in one row: the record or artifact that has its id already, and the record it replies to.
//
// mode: read
// row:  record, artifact_id, parent
OPTIONAL MATCH (record:TaskRecord {key: $key, tenant_id: $tenant_id})
OPTIONAL MATCH (artifact:Artifact {key: $key, tenant_id: $tenant_id})
OPTIONAL MATCH (parent:TaskRecord {key: $parent_key, tenant_id: $tenant_id})
RETURN properties(record) AS record, artifact.artifact_id AS artifact_id, properties(parent) AS parent
