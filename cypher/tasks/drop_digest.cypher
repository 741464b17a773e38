// Delete a digest that has nothing left to report. It is composed again once there is something.
//
// mode: write
// row:  -
MATCH (digest:TaskRecord {key: $key, tenant_id: $tenant_id})
WHERE digest.artifact_kind = 'digest'
DETACH DELETE digest
