// One Task node per key. Community knows no other constraint than uniqueness.
//
// mode: schema
// row:  -
CREATE CONSTRAINT task_key IF NOT EXISTS
FOR (n:Task) REQUIRE n.key IS UNIQUE
