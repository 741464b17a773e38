// Mark all events dated after an instant as ahead of the clock, so that their sessions are compiled again without them.
// Move later times in the histories of artifacts back to the instant: artifacts recorded under a wrong time would
// otherwise be invisible until that time.
//
// mode: write
// row:  -
CALL () {
  MATCH (event:Event)
  USING INDEX SEEK event:Event(tenant_id, time_us)
  WHERE event.tenant_id = $tenant_id AND event.time_us > $latest_us AND event.erased IS NULL AND event.ahead IS NULL
  SET event.ahead = true
  WITH event
  MATCH (event)-[:IN_SESSION]->(session:Session)
  SET session.changed_version = $version
}
CALL () {
  MATCH (artifact:Artifact)
  WHERE artifact.tenant_id = $tenant_id AND artifact.status IS NOT NULL
    AND (artifact.status_times[-1] > $latest_us OR artifact.count_times[-1] > $latest_us)
  SET
    artifact.status_times = [time IN artifact.status_times | CASE WHEN time > $latest_us THEN $latest_us ELSE time END],
    artifact.count_times = [time IN artifact.count_times | CASE WHEN time > $latest_us THEN $latest_us ELSE time END],
    artifact.recorded_us = CASE WHEN artifact.recorded_us > $latest_us THEN $latest_us ELSE artifact.recorded_us END
}
