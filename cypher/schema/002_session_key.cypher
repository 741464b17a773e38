// One Session node per key. Community knows no other constraint than uniqueness.
//
// mode: schema
// row:  -
CREATE CONSTRAINT session_key IF NOT EXISTS
FOR (n:Session) REQUIRE n.key IS UNIQUE
