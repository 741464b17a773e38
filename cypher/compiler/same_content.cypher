// The draft or active artifacts with a content that is about to be stored.
//
// mode: read
// row:  dedup_key, key
MATCH (artifact:Artifact)
WHERE artifact.dedup_key IN $dedup_keys AND artifact.tenant_id = $tenant_id
RETURN artifact.dedup_key AS dedup_key, artifact.key AS key
ORDER BY key
