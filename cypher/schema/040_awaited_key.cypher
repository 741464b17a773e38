// One placeholder per event that others point at and that has not arrived.
//
// mode: schema
// row:  -
CREATE CONSTRAINT awaited_key IF NOT EXISTS
FOR (n:Awaited) REQUIRE n.key IS UNIQUE
