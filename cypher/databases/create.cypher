// A database for one tenant, where the edition has more than one; sent to the system database.
//
// mode: schema
// row:  -
CREATE DATABASE $name IF NOT EXISTS WAIT
