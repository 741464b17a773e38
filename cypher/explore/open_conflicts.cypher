// Open conflicts and their sides.
//
// Conflicts between records that cannot both be true, with these records as their sides, as a picture.
//
// mode: read
// row:  conflict, relation, side
MATCH (conflict:Conflict {tenant_id: $tenant_id, status: 'open'})-[relation:BETWEEN]->(side)
RETURN conflict, relation, side
ORDER BY conflict.detected_us DESC, conflict.conflict_id, side.key
