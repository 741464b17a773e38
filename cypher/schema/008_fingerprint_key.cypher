// One Fingerprint node per key. Community knows no other constraint than uniqueness.
//
// mode: schema
// row:  -
CREATE CONSTRAINT fingerprint_key IF NOT EXISTS
FOR (n:Fingerprint) REQUIRE n.key IS UNIQUE
