// Active entities by type: their number and the sum of their confidences in millionths.
//
// Whole millionths, because a sum of fractions depends on the order in which nodes are read, and a digest must not.
//
// A condition on the type lets the planner use the index of tenant and type.
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
