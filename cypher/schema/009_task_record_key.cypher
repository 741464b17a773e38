// One TaskRecord node per key. Community knows no other constraint than uniqueness.
//
// mode: schema
// row:  -
CREATE CONSTRAINT task_record_key IF NOT EXISTS
FOR (n:TaskRecord) REQUIRE n.key IS UNIQUE
