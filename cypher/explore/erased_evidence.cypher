// Erased evidence and what still rests on it.
//
// Events whose content was erased and what still rests on them, as a picture.
//
// The time is named for its index.
//
// mode: read
// row:  event, relation, record
MATCH (event:Event {tenant_id: $tenant_id, erased: true})
WHERE event.time_us IS NOT NULL
OPTIONAL MATCH (event)<-[relation:EVIDENCED_BY]-(record)
RETURN event, relation, record
ORDER BY event.key, record.key
LIMIT 200
