// Artifacts that speak about the same condition: candidates for a conflict.
//
// mode: schema
// row:  -
CREATE INDEX artifact_situation IF NOT EXISTS
FOR (n:Artifact) ON (n.situation_key)
