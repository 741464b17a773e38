// Events per day.
//
// Number of events by day and type.
//
// A condition on the time lets the planner use the index of tenant and time.
//
// mode: read
// row:  day, event_type, events
MATCH (event:Event {tenant_id: $tenant_id})
WHERE event.time_us IS NOT NULL
RETURN left(event.timestamp, 10) AS day, event.event_type AS event_type, count(*) AS events
ORDER BY day, event_type
