// Keep what was counted of sessions, with the version of the tenant's state that it was read from and the
// rules that it was counted by.
//
// It is derived from the events alone, so nothing that a reader sees changes and the state's version stays. A session
// that was written to in between is not up to date and is read again.
//
// mode: write
// row:  sessions
UNWIND $rows AS row
MATCH (session:Session {key: row.session_key, tenant_id: $tenant_id})
SET session.behaviour = row.behaviour, session.behaviour_version = row.version, session.behaviour_rules = $rules
RETURN count(*) AS sessions
