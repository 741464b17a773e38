// Link a new record to its events, and mark the digests that it makes stale.
//
// The last statement, after the tenant's node is locked: every refresh of a digest takes that lock first, so a digest
// either includes this record or is marked here.
//
// mode: write
// row:  stale
MATCH (record:TaskRecord {key: $key, tenant_id: $tenant_id})
CALL (record) {
  MATCH (event:Event)
  WHERE event.key IN $batch.event_keys AND event.tenant_id = $tenant_id
  CREATE (record)-[:EVIDENCED_BY {tenant_id: $tenant_id}]->(event)
}
CALL () {
  MATCH (digest:TaskRecord)
  WHERE digest.key IN $batch.digest_keys AND digest.tenant_id = $tenant_id
  SET digest.stale = true
  RETURN count(digest) AS stale
}
RETURN stale
