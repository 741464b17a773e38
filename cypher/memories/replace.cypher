// Supersede each memory that an event names by the memory that the event states; of several, by the one with the lowest
// key.
//
// A memory that is missing, already superseded or would close a loop is left as it is; callers that need the
// replacement check it afterwards. The unique supersedes_key makes a second successor impossible.
//
// mode: write
// row:  -
UNWIND $batch.replaced AS row
MATCH (:Event {key: row.event_key})<-[:EVIDENCED_BY]-(newer:Memory)
WHERE newer.tenant_id = $tenant_id
WITH row, newer
ORDER BY newer.key
WITH row, head(collect(newer)) AS newer
MATCH (older:Memory {key: row.old_key})
WHERE older.tenant_id = $tenant_id AND newer.key <> older.key
CALL (newer, older, row) {
  WITH newer, older, row
  WHERE newer.supersedes_key IS NULL
    AND NOT EXISTS { (older)<-[:SUPERSEDES]-(:Memory) }
    AND NOT EXISTS { (older)-[:SUPERSEDES*]->(newer) }
  MERGE (newer)-[:SUPERSEDES {tenant_id: $tenant_id}]->(older)
  SET
    newer.supersedes_key = older.key,
    older.status = 'deprecated',
    older.valid_to_us = CASE WHEN older.valid_to_us < row.at_us THEN older.valid_to_us ELSE row.at_us END
}
