// The time at which memories ceased to hold: they were deleted, superseded, or lost a conflict. No row for the others.
//
// Memories without text are left out: they lost their evidence, and hold again when they are stated again.
//
// mode: read
// row:  key, ended_us
MATCH (memory:Memory)
WHERE memory.key IN $batch.keys AND memory.tenant_id = $tenant_id
  AND memory.text <> '' AND memory.status IN ['deprecated', 'contradicted'] AND memory.valid_to_us IS NOT NULL
RETURN memory.key AS key, memory.valid_to_us AS ended_us
ORDER BY key
