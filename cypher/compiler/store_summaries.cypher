// Store summaries of sessions, with the version of the session that each was made from.
//
// A session that has since changed or lost events is skipped and read again by the next compilation.
//
// Planner: without the hint it may search, for each row, all sessions that were changed by the same call.
//
// mode: write
// row:  -
UNWIND $summaries AS row
MATCH (session:Session {key: row.session_key, tenant_id: $tenant_id})
USING INDEX SEEK session:Session(tenant_id, key)
WHERE session.changed_version = row.version
WITH session, row
ORDER BY session.key
SET
  session.summary = row.summary,
  session.summary_us = row.last_us,
  session.summary_version = $summary_version,
  session.summarised_version = row.version
