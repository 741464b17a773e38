// Create the database of one tenant unless it exists. It is sent to the system database of an edition that allows more
// than one database.
//
// mode: schema
// row:  -
CREATE DATABASE $name IF NOT EXISTS WAIT
