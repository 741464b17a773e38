// The keys of the conflicts that these artifacts and memories are sides of.
//
// mode: read
// row:  record_key, conflict_keys
MATCH (record:Artifact|Memory)
WHERE record.key IN $keys AND record.tenant_id = $tenant_id
MATCH (record)<-[:BETWEEN]-(conflict:Conflict)
WITH record, conflict
ORDER BY conflict.key
RETURN record.key AS record_key, collect(conflict.key) AS conflict_keys
ORDER BY record_key
