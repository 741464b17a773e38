// One PackReport node per key: what a reader said of a context pack.
//
// mode: schema
// row:  -
CREATE CONSTRAINT pack_report_key IF NOT EXISTS
FOR (n:PackReport) REQUIRE n.key IS UNIQUE
