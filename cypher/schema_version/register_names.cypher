// Register every relationship type and property key that the packaged statements use, and wait for all indexes.
//
// In a new database the planner warns of names that it has not seen. Once they are registered, such a warning always
// means a mistake in a statement. A new index is populated in the background; the wait for it ends no sooner than the
// transaction, which has 600 s.
//
// mode: write
// row:  -
CALL () {
  UNWIND $relationship_types AS name
  CALL db.createRelationshipType(name)
}
CALL () {
  UNWIND $property_keys AS name
  CALL db.createProperty(name)
}
CALL db.awaitIndexes(600)
