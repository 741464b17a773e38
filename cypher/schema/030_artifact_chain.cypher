// One artifact per chain and version: a second successor is impossible by construction, and the head of a chain
// is the last key of a range, however long the chain (HMX-A 7).
//
// mode: schema
// row:  -
CREATE CONSTRAINT artifact_chain IF NOT EXISTS
FOR (n:Artifact) REQUIRE (n.chain_key, n.version) IS UNIQUE
