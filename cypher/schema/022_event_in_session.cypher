// The order of a session: neighbours and ranges by sequence.
//
// mode: schema
// row:  -
CREATE INDEX event_in_session IF NOT EXISTS
FOR (n:Event) ON (n.session_key, n.sequence)
