// At most one successor for a Memory, by construction: the key of what it supersedes is unique (HMX-A 7).
//
// mode: schema
// row:  -
CREATE CONSTRAINT memory_supersedes_key IF NOT EXISTS
FOR (n:Memory) REQUIRE n.supersedes_key IS UNIQUE
