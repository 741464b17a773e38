// Resolve the open conflicts of artifacts and memories that are no longer in force, if fewer than two sides remain.
//
// The conflict's label is checked only after the expansion: otherwise a plan made while there are few conflicts would
// start from all of them, and be kept when there are many.
//
// mode: write
// row:  -
MATCH (gone:Artifact|Memory)
WHERE gone.key IN $keys
  AND gone.tenant_id = $tenant_id
  AND NOT gone.status IN ['draft', 'active', 'promoted', 'tentative']
MATCH (gone)<-[between:BETWEEN]-()
WITH DISTINCT startNode(between) AS conflict
WHERE conflict:Conflict AND conflict.status = 'open'
WITH conflict
ORDER BY conflict.key
CALL (conflict) {
  MATCH (conflict)-[:BETWEEN]->(side:Artifact|Memory)
  WHERE side.status IN ['draft', 'active', 'promoted', 'tentative']
  WITH coalesce(side.artifact_id, side.memory_id) AS side_id
  ORDER BY side_id
  RETURN collect(side_id) AS holding
}
WITH conflict, holding
WHERE size(holding) < 2
SET
  conflict.status = 'resolved',
  conflict.resolved_us = CASE WHEN $at_us > conflict.detected_us THEN $at_us ELSE conflict.detected_us END,
  conflict.kept_id = holding[0],
  conflict.resolution = 'a side no longer holds'
