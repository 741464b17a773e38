// Delete a digest whose sources are all superseded, retired or erased. It is composed again once it has sources.
//
// mode: write
// row:  dropped
MATCH (digest:TaskRecord {key: $key, tenant_id: $tenant_id})
WHERE digest.artifact_kind = 'digest'
DETACH DELETE digest
RETURN count(*) AS dropped
