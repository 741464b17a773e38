// Resolve an open conflict, recording which side is kept (all, if none is named) and why. At most one row.
//
// Planner: without the hint it may search all conflicts of the tenant with that status.
//
// mode: write
// row:  at_us
MATCH (conflict:Conflict {key: $key})
USING INDEX SEEK conflict:Conflict(key)
WHERE conflict.tenant_id = $tenant_id AND conflict.status = 'open'
WITH conflict, CASE WHEN $at_us > conflict.detected_us THEN $at_us ELSE conflict.detected_us END AS at_us
SET
  conflict.status = 'resolved',
  conflict.resolved_us = at_us,
  conflict.kept_id = $kept_id,
  conflict.resolution = $resolution
RETURN at_us
