// Records by key, each with the replies that decide its trust tier.
//
// mode: read
// row:  record, replies
MATCH (record:TaskRecord)
WHERE record.key IN $batch.keys AND record.tenant_id = $tenant_id
OPTIONAL MATCH (reply:TaskRecord)-[:REPLIES_TO]->(record)
WHERE reply.artifact_kind IN ['review', 'revision', 'verification', 'decision'] AND reply.hidden_reason IS NULL
WITH
  record,
  collect(reply {.artifact_id, .artifact_kind, .agent_id, .supports_claim, .verification_status, .created_us})
    AS replies
RETURN properties(record) AS record, replies
ORDER BY record.key
