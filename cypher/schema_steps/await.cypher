// Wait until every index is online: a new full-text index is filled in the background.
//
// mode: schema
// row:  -
CALL db.awaitIndexes(300)
