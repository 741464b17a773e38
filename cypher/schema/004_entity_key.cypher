// One Entity node per key. Community knows no other constraint than uniqueness.
//
// mode: schema
// row:  -
CREATE CONSTRAINT entity_key IF NOT EXISTS
FOR (n:Entity) REQUIRE n.key IS UNIQUE
