// Events a day.
//
// How much happened, by day and type.
//
// mode: read
// row:  day, event_type, events
MATCH (event:Event {tenant_id: $tenant_id})
RETURN left(event.timestamp, 10) AS day, event.event_type AS event_type, count(*) AS events
ORDER BY day, event_type
