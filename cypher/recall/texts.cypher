// The texts of the events that were chosen: one row with a list, in no order.
//
// mode: read
// row:  events
UNWIND $keys AS key
MATCH (event:Event {key: key})
WHERE event.tenant_id = $tenant_id
RETURN collect([event.event_id, event.text]) AS events
