// Indexes that are still being populated, or have failed.
//
// mode: read
// row:  name, state
SHOW INDEXES YIELD name, state
WHERE state <> 'ONLINE'
RETURN name, state
ORDER BY name
