// Store the counts made from sessions, with the version of the tenant's state that they were read from and of the rules
// that made them.
//
// They are derived from events alone, so readers see no change and the state version stays. A session written to in
// between is out of date and read again.
//
// mode: write
// row:  sessions
UNWIND $rows AS row
MATCH (session:Session {key: row.session_key, tenant_id: $tenant_id})
SET session.behaviour = row.behaviour, session.behaviour_version = row.version, session.behaviour_rules = $rules
RETURN count(*) AS sessions
