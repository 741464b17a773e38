// The property keys of what failed, and of the rules that behaviour was counted by, made known before any statement
// names them (names).
//
// mode: schema
// row:  -
CALL () {
  UNWIND ['behaviour_rules', 'failed'] AS name
  CALL db.createProperty(name)
}
