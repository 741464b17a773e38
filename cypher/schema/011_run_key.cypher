// One Run node per key. Community knows no other constraint than uniqueness.
//
// mode: schema
// row:  -
CREATE CONSTRAINT run_key IF NOT EXISTS
FOR (n:Run) REQUIRE n.key IS UNIQUE
