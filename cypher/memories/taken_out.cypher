// The time at which memories were retired, by hand or as the losing side of a conflict; no row for the others.
//
// Memories without text are left out: they lost their evidence and were not retired.
//
// mode: read
// row:  key, ended_us
MATCH (memory:Memory)
WHERE memory.key IN $batch.keys AND memory.tenant_id = $tenant_id
  AND memory.text <> '' AND memory.status IN ['deprecated', 'contradicted'] AND memory.valid_to_us IS NOT NULL
RETURN memory.key AS key, memory.valid_to_us AS ended_us
ORDER BY key
