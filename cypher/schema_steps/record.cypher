// Note that a migration step was applied. Two clients applying it at once meet on the one node.
//
// mode: write
// row:  name
MERGE (step:SchemaStep {name: $name})
  ON CREATE SET step.position = $position
RETURN step.name AS name
