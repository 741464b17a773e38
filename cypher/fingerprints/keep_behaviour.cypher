// Store the counts of what happened in sessions, each with the version of the session and of the counting rules.
//
// Counts are derived from events alone, so readers see no change and the state version stays. If a session is written
// to meanwhile, its counts are out of date and will be made again.
//
// mode: write
// row:  -
UNWIND $rows AS row
MATCH (session:Session {key: row.session_key, tenant_id: $tenant_id})
SET session.behaviour = row.behaviour, session.behaviour_version = row.version, session.behaviour_rules = $rules
