// The keys of the conflicts that a record is a side of.
//
// mode: read
// row:  key
MATCH (record {tenant_id: $tenant_id})<-[:BETWEEN]-(conflict:Conflict)
WHERE record.key = $key AND (record:Artifact OR record:Memory)
RETURN conflict.key AS key
ORDER BY key
