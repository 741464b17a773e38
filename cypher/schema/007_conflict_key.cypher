// One Conflict node per key. Community knows no other constraint than uniqueness.
//
// mode: schema
// row:  -
CREATE CONSTRAINT conflict_key IF NOT EXISTS
FOR (n:Conflict) REQUIRE n.key IS UNIQUE
