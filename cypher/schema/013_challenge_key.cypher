// One Challenge node per key. Community knows no other constraint than uniqueness.
//
// mode: schema
// row:  -
CREATE CONSTRAINT challenge_key IF NOT EXISTS
FOR (n:Challenge) REQUIRE n.key IS UNIQUE
