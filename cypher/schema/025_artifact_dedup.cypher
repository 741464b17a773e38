// One artifact per tenant, type and content among draft and active (DESIGN 6): the key is taken off a node
// that leaves these two states, so that two writers of the same knowledge meet on one node.
//
// mode: schema
// row:  -
CREATE CONSTRAINT artifact_dedup IF NOT EXISTS
FOR (n:Artifact) REQUIRE n.dedup_key IS UNIQUE
