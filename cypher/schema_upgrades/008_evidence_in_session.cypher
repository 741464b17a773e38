// Find the artifacts compiled from a session without reading its events.
//
// mode: schema
// row:  -
CREATE INDEX evidence_in_session IF NOT EXISTS
FOR ()-[r:EVIDENCED_BY]-() ON (r.session_key);
