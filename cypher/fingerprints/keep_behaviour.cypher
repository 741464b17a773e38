// Store the counts of sessions, with the versions of the session and of the counting rules that they were made with.
//
// They are derived from events alone, so readers see no change and the state version stays. The counts of a session
// written to in between are out of date and made again.
//
// mode: write
// row:  -
UNWIND $rows AS row
MATCH (session:Session {key: row.session_key, tenant_id: $tenant_id})
SET session.behaviour = row.behaviour, session.behaviour_version = row.version, session.behaviour_rules = $rules
