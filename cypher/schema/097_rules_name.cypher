// The property key of the rules that behaviour was counted by, made known before any statement names it (names).
//
// mode: schema
// row:  -
CALL () {
  UNWIND ['behaviour_rules'] AS name
  CALL db.createProperty(name)
}
