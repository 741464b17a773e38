// Create the index of event vectors; only a client with an embedder sends this.
//
// One index for all tenants and models: vectors of different sizes are never compared with each other.
//
// mode: schema
// row:  -
CREATE VECTOR INDEX event_vector IF NOT EXISTS
FOR (n:Event) ON n.vector
OPTIONS {indexConfig: {`vector.similarity_function`: 'cosine'}}
