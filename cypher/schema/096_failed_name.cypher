// The property key of events that tell of a failure, made known before any statement names it (names).
//
// mode: schema
// row:  -
CALL () {
  UNWIND ['failed'] AS name
  CALL db.createProperty(name)
}
