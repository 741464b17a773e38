// The last sequence number of the events that a session has at one time, for each given session and time; null if none.
//
// A sequence number derived from a time is that time in microseconds, plus the number of earlier events of that time:
// reading one second of the session finds a million of these.
//
// mode: read
// row:  session_key, time_us, sequence
UNWIND $batch.times AS row
CALL (row) {
  MATCH (event:Event {tenant_id: $tenant_id, session_key: row.session_key})
  USING INDEX SEEK event:Event(session_key, sequence)
  WHERE event.sequence >= row.time_us AND event.sequence < row.time_us + 1000000 AND event.time_us = row.time_us
  RETURN max(event.sequence) AS sequence
}
RETURN row.session_key AS session_key, row.time_us AS time_us, sequence
ORDER BY session_key, time_us
