// A page of task records: the hashed text and the hash.
//
// mode: read
// row:  key, artifact_id, document, record_hash, erased
MATCH (record:TaskRecord)
WHERE record.key IN $keys AND record.tenant_id = $tenant_id
RETURN
  record.key AS key,
  record.artifact_id AS artifact_id,
  record.document AS document,
  record.record_hash AS record_hash,
  coalesce(record.erased, false) AS erased
ORDER BY record.key
