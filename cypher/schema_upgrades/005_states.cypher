// Constraint and indexes for state that adapters keep for frameworks: checkpoints and transcripts, opaque to memory.
//
// mode: schema
// row:  -

CREATE CONSTRAINT state_key IF NOT EXISTS
FOR (n:State) REQUIRE n.key IS UNIQUE;

CREATE INDEX state_of_shelf IF NOT EXISTS
FOR (n:State) ON (n.shelf_key);

CREATE INDEX state_of_kind IF NOT EXISTS
FOR (n:State) ON (n.tenant_id, n.kind);
