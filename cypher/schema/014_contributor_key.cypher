// One Contributor node per key. Community knows no other constraint than uniqueness.
//
// mode: schema
// row:  -
CREATE CONSTRAINT contributor_key IF NOT EXISTS
FOR (n:Contributor) REQUIRE n.key IS UNIQUE
