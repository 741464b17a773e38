// One Event node per key. Community knows no other constraint than uniqueness.
//
// mode: schema
// row:  -
CREATE CONSTRAINT event_key IF NOT EXISTS
FOR (n:Event) REQUIRE n.key IS UNIQUE
