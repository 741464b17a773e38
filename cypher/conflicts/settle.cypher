// Resolve the open conflicts of artifacts and memories that are no longer in force, if fewer than two sides remain.
//
// The conflict's label is checked only after the expansion: otherwise a plan made while there are few conflicts would
// start from all of them, and be kept when there are many.
//
// mode: write
// row:  -
MATCH (ended:Artifact|Memory)
WHERE ended.key IN $keys
  AND ended.tenant_id = $tenant_id
  AND NOT ended.status IN ['draft', 'active', 'promoted', 'tentative']
MATCH (ended)<-[between:BETWEEN]-()
WITH DISTINCT startNode(between) AS conflict
WHERE conflict:Conflict AND conflict.status = 'open'
WITH conflict
ORDER BY conflict.key
CALL (conflict) {
  MATCH (conflict)-[:BETWEEN]->(side:Artifact|Memory)
  WHERE side.status IN ['draft', 'active', 'promoted', 'tentative']
  WITH coalesce(side.artifact_id, side.memory_id) AS side_id
  ORDER BY side_id
  RETURN collect(side_id) AS remaining_ids
}
WITH conflict, remaining_ids
WHERE size(remaining_ids) < 2
SET
  conflict.status = 'resolved',
  conflict.resolved_us = CASE WHEN $at_us > conflict.detected_us THEN $at_us ELSE conflict.detected_us END,
  conflict.kept_id = remaining_ids[0],
  conflict.resolution = 'a side no longer holds'
