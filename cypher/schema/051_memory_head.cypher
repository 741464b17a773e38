// One memory per question holds at a time: the key stands only on the one that nothing has superseded, so that two
// writers of different answers meet on it.
//
// mode: schema
// row:  -
CREATE CONSTRAINT memory_head IF NOT EXISTS
FOR (n:Memory) REQUIRE n.head_key IS UNIQUE
