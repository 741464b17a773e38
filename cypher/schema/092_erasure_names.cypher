// The property keys that statements of erasure name, made known before any of them is used (names).
//
// mode: schema
// row:  -
CALL () {
  UNWIND ['erased_version', 'model_hash'] AS name
  CALL db.createProperty(name)
}
