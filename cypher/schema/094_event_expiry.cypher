// Events of a tenant by the time at which they expire, those that ever do and still hold content: what has run out is
// found without looking at the others.
//
// mode: schema
// row:  -
CREATE INDEX event_expiry IF NOT EXISTS
FOR (n:Event) ON (n.tenant_id, n.expires_us)
