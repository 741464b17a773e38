// Erased evidence and what still depends on it.
//
// Events whose content was erased, and the memories, artifacts and other records that still cite them, as a picture of
// at most 200 links.
//
// A condition on the time lets the planner use the index of tenant and time.
//
// mode: read
// row:  event, relation, record
MATCH (event:Event {tenant_id: $tenant_id, erased: true})
WHERE event.time_us IS NOT NULL
OPTIONAL MATCH (event)<-[relation:EVIDENCED_BY]-(record)
RETURN event, relation, record
ORDER BY event.key, record.key
LIMIT 200
