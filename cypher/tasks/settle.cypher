// Link new records to their events, and mark the digests that they make stale.
//
// The last statement, after the tenant's node is locked: every refresh of a digest takes that lock first, so a digest
// either includes these records or is marked here.
//
// mode: write
// row:  -
CALL () {
  UNWIND $batch.records AS row
  MATCH (record:TaskRecord {key: row.key, tenant_id: $tenant_id})
  MATCH (event:Event)
  WHERE event.key IN row.event_keys AND event.tenant_id = $tenant_id
  CREATE (record)-[:EVIDENCED_BY {tenant_id: $tenant_id}]->(event)
}
CALL () {
  MATCH (digest:TaskRecord)
  WHERE digest.key IN $batch.digest_keys AND digest.tenant_id = $tenant_id
  SET digest.stale = true
}
