// Record that the database has schema version $version; two clients that prepare it at once write the same node.
//
// mode: write
// row:  -
MERGE (schema:SchemaVersion {name: 'hmxgraph'})
WITH schema
WHERE coalesce(schema.version, 0) < $version
SET
  schema.version = $version,
  schema.release = $release
