// Tool calls by what their results name, so that a result finds its call however far back it lies.
//
// mode: schema
// row:  -
CREATE INDEX event_call_key IF NOT EXISTS
FOR (n:Event) ON (n.call_key)
