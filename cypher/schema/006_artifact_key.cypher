// One Artifact node per key. Community knows no other constraint than uniqueness.
//
// mode: schema
// row:  -
CREATE CONSTRAINT artifact_key IF NOT EXISTS
FOR (n:Artifact) REQUIRE n.key IS UNIQUE
