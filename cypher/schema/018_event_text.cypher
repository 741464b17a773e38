// Words of events: our own stemmed terms, so the analyzer only splits at white space. The scope
// token of the tenant stands in the same index and bounds every question asked of it.
//
// mode: schema
// row:  -
CREATE FULLTEXT INDEX event_text IF NOT EXISTS
FOR (n:Event) ON EACH [n.search_text, n.scope]
OPTIONS {indexConfig: {`fulltext.analyzer`: 'whitespace', `fulltext.eventually_consistent`: false}}
