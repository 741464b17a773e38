// One Tenant node per key. Community knows no other constraint than uniqueness.
//
// mode: schema
// row:  -
CREATE CONSTRAINT tenant_key IF NOT EXISTS
FOR (n:Tenant) REQUIRE n.key IS UNIQUE
