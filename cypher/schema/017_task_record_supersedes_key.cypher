// At most one successor for a TaskRecord, by construction: the key of what it supersedes is unique (HMX-A 7).
//
// mode: schema
// row:  -
CREATE CONSTRAINT task_record_supersedes_key IF NOT EXISTS
FOR (n:TaskRecord) REQUIRE n.supersedes_key IS UNIQUE
