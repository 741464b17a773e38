// For each key, the stored task record or artifact that has it; no row if there is neither.
//
// mode: read
// row:  key, record, artifact_id
UNWIND $batch.keys AS key
OPTIONAL MATCH (record:TaskRecord {key: key, tenant_id: $tenant_id})
OPTIONAL MATCH (artifact:Artifact {key: key, tenant_id: $tenant_id})
WITH key, record, artifact
WHERE record IS NOT NULL OR artifact IS NOT NULL
RETURN key, properties(record) AS record, artifact.artifact_id AS artifact_id
ORDER BY key
