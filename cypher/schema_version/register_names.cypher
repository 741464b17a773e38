// Register every relationship type and property key that the packaged statements use, and wait for all indexes.
//
// In a new database the planner warns of names that it has not seen. Once they are registered, such a warning always
// means a mistake in a statement. New indexes are populated in the background; they have 600 s, like the transaction.
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
