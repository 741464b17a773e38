// The migration steps that this database has been through.
//
// mode: read
// row:  name
MATCH (step:SchemaStep)
RETURN step.name AS name
ORDER BY name
