// Events of a tenant whose embeddings can be compared with each other.
//
// mode: schema
// row:  -
CREATE INDEX event_embedding IF NOT EXISTS
FOR (n:Event) ON (n.tenant_id, n.embedding_dimension)
