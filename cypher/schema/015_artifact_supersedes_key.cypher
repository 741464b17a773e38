// At most one successor for a Artifact, by construction: the key of what it supersedes is unique (HMX-A 7).
//
// mode: schema
// row:  -
CREATE CONSTRAINT artifact_supersedes_key IF NOT EXISTS
FOR (n:Artifact) REQUIRE n.supersedes_key IS UNIQUE
