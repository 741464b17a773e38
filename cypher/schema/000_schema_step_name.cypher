// One SchemaStep node per migration step: the record of what this database has been through.
//
// mode: schema
// row:  -
CREATE CONSTRAINT schema_step_name IF NOT EXISTS
FOR (n:SchemaStep) REQUIRE n.name IS UNIQUE
