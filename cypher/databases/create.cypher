// Create a database for one tenant, if the edition has more than one; sent to the system database.
//
// mode: schema
// row:  -
CREATE DATABASE $name IF NOT EXISTS WAIT
