// The number of the tenant's memories by status, kind and extraction method, with sums in whole numbers. Proposals and
// memories bound to single users are not exported.
//
// A condition on the kind lets the planner use the index of tenant and kind.
//
// mode: read
// row:  status, kind, extraction_method, memory_count, confidence_millionths, observations
MATCH (memory:Memory {tenant_id: $tenant_id})
WHERE memory.kind IS NOT NULL AND memory.proposed IS NULL AND memory.owner_key IS NULL
RETURN
  memory.status AS status,
  memory.kind AS kind,
  coalesce(memory.extraction_method, 'unknown') AS extraction_method,
  count(*) AS memory_count,
  sum(toInteger(round(memory.confidence * 1000000))) AS confidence_millionths,
  sum(coalesce(memory.observation_count, 1)) AS observations
ORDER BY status, kind, extraction_method
