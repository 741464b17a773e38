// Records on entities of a name, as the record spells it, by time: of all mentions only those of records have one.
//
// mode: schema
// row:  -
CREATE INDEX mention_of_entity_name IF NOT EXISTS
FOR ()-[r:MENTIONS]-() ON (r.tenant_id, r.name, r.created_us)
