// Find the events that are ahead of the clock without reading the others.
//
// mode: schema
// row:  -
CREATE INDEX event_ahead IF NOT EXISTS
FOR (n:Event) ON (n.tenant_id, n.ahead, n.time_us);
