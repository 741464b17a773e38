// Where an entity is mentioned.
//
// Events, latest first, that speak of the entities of this name.
//
// mode: read
// row:  timestamp, session_id, event_type, text
MATCH (entity:Entity {tenant_id: $tenant_id, normalised: toLower($name)})<-[:MENTIONS]-(event:Event)
RETURN
  event.timestamp AS timestamp,
  event.session_id AS session_id,
  event.event_type AS event_type,
  left(event.text, 200) AS text
ORDER BY event.time_us DESC, event.event_id
LIMIT 100
