// Indexes that cannot answer yet, or ever.
//
// mode: read
// row:  name, state
SHOW INDEXES YIELD name, state
WHERE state <> 'ONLINE'
RETURN name, state
ORDER BY name
