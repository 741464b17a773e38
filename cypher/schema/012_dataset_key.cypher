// One Dataset node per key. Community knows no other constraint than uniqueness.
//
// mode: schema
// row:  -
CREATE CONSTRAINT dataset_key IF NOT EXISTS
FOR (n:Dataset) REQUIRE n.key IS UNIQUE
