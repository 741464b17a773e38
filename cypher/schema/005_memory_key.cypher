// One Memory node per key. Community knows no other constraint than uniqueness.
//
// mode: schema
// row:  -
CREATE CONSTRAINT memory_key IF NOT EXISTS
FOR (n:Memory) REQUIRE n.key IS UNIQUE
