// Find the events that name a user without reading all events of the tenant.
//
// mode: schema
// row:  -
CREATE INDEX event_of_user IF NOT EXISTS
FOR ()-[r:NAMES_USER]-() ON (r.user_key, r.time_us);
