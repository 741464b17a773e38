// Active entities by type: how many, and the sum of their confidences in millionths.
//
// Whole millionths, because a sum of fractions depends on the order in which the store hands out the nodes and a
// digest must not. The index is on (tenant_id, type); it is used only where both are asked for.
//
// mode: read
// row:  type, entity_count, confidence_millionths
MATCH (entity:Entity {tenant_id: $tenant_id})
WHERE entity.type IS NOT NULL
  AND entity.status = 'active'
  AND ($as_of_us IS NULL OR entity.first_us <= $as_of_us)
RETURN
  entity.type AS type,
  count(*) AS entity_count,
  sum(toInteger(round(entity.confidence * 1000000))) AS confidence_millionths
ORDER BY type
