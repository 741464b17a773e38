// The stored records that matter for a new one, in one row: the record or artifact with its id, and the record that it
// replies to.
//
// mode: read
// row:  record, artifact_id, parent
OPTIONAL MATCH (record:TaskRecord {key: $key, tenant_id: $tenant_id})
OPTIONAL MATCH (artifact:Artifact {key: $key, tenant_id: $tenant_id})
OPTIONAL MATCH (parent:TaskRecord {key: $parent_key, tenant_id: $tenant_id})
RETURN properties(record) AS record, artifact.artifact_id AS artifact_id, properties(parent) AS parent
