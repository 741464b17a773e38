// The latest of these times, in one row: of events with content that are not held back, of status changes of artifacts
// that are not blanked, and of resolutions of conflicts, unless a side no longer holds or lost its evidence. Null if
// nothing is left.
//
// With the tenant in ORDER BY, the index is read backwards, past events that were erased earlier. A conflict that ended
// with one of its sides is left out: its time is that of the side, or of an erased event.
//
// mode: read
// row:  latest_us
CALL () {
  MATCH (event:Event)
  USING INDEX SEEK event:Event(tenant_id, time_us)
  WHERE event.tenant_id = $tenant_id AND event.time_us IS NOT NULL AND event.erased IS NULL
    AND event.ahead IS NULL
  WITH event
  ORDER BY event.tenant_id DESC, event.time_us DESC
  LIMIT 1
  RETURN max(event.time_us) AS event_us
}
CALL () {
  MATCH (artifact:Artifact)
  WHERE artifact.tenant_id = $tenant_id AND artifact.status IS NOT NULL AND artifact.erased IS NULL
  RETURN max(artifact.status_times[-1]) AS recorded_us
}
CALL () {
  MATCH (conflict:Conflict {tenant_id: $tenant_id, status: 'resolved'})
  WHERE NOT conflict.resolution IN ['a side no longer holds', 'a side lost its evidence']
  RETURN max(conflict.resolved_us) AS resolved_us
}
UNWIND [event_us, recorded_us, resolved_us] AS time_us
RETURN max(time_us) AS latest_us
