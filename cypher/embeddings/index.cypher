// Make the index of the vectors that an embedder gave to events; only a client that has an embedder sends this.
//
// One index for all tenants and models: vectors of another size are never compared with each other.
//
// mode: schema
// row:  -
CREATE VECTOR INDEX event_vector IF NOT EXISTS
FOR (n:Event) ON n.vector
OPTIONS {indexConfig: {`vector.similarity_function`: 'cosine'}}
