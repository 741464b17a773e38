// Records on entities of a type, by time.
//
// mode: schema
// row:  -
CREATE INDEX mention_of_entity_type IF NOT EXISTS
FOR ()-[r:MENTIONS]-() ON (r.tenant_id, r.entity_type, r.created_us)
