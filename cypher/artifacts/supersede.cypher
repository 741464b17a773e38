// Replace active heads by new artifacts: status, edge and next version in one step (HMX-A 7).
//
// The heads are locked by artifacts/lock. A head returns no row if it is not active, has a successor, or differs in
// type or version. No search for cycles is needed: SUPERSEDES always leads from a version to the one before it. The
// predecessor gives up its dedup_key first, because the successor may have the same content.
//
// Planner: without the hint it may search all artifacts of the tenant with that status.
//
// mode: write
// row:  at_us
UNWIND $successions AS row
MATCH (old:Artifact {key: row.old_key})
USING INDEX SEEK old:Artifact(key)
WHERE old.tenant_id = $tenant_id
  AND old.status = 'active'
  AND old.key <> row.key
  AND old.artifact_type = row.properties.artifact_type
  AND row.properties.version = old.version + 1
  AND NOT EXISTS { (:Artifact)-[:SUPERSEDES]->(old) }
WITH old, row, CASE WHEN row.at_us > old.status_times[-1] THEN row.at_us ELSE old.status_times[-1] END AS at_us
SET
  old.status = 'superseded',
  old.superseded_by = row.properties.artifact_id,
  old.updated_us = at_us,
  old.status_times = old.status_times + at_us,
  old.status_values = old.status_values + 'superseded',
  old.status_reasons = old.status_reasons + '',
  old.dedup_key = null
CREATE (new:Artifact)
SET new = row.properties
SET
  new.tenant_id = $tenant_id,
  new.chain_key = old.chain_key,
  new.lineage_key = old.lineage_key,
  new.supersedes = old.artifact_id,
  new.supersedes_key = old.key,
  new.recorded_us = at_us,
  new.status_times = [at_us],
  new.count_times = [at_us]
CREATE (new)-[:SUPERSEDES {tenant_id: $tenant_id}]->(old)
WITH new, old, row, at_us
CALL (new, row) {
  MATCH (event:Event)
  WHERE event.key IN row.evidence_keys AND event.tenant_id = $tenant_id
  CREATE (new)-[:EVIDENCED_BY {tenant_id: $tenant_id, session_key: event.session_key}]->(event)
}
CALL (new, row) {
  UNWIND row.evidence_keys AS key
  WITH new, key
  WHERE NOT EXISTS { (:Event {key: key, tenant_id: $tenant_id}) }
  MERGE (awaited:Awaited {key: key})
    ON CREATE SET awaited.tenant_id = $tenant_id
  CREATE (new)-[:AWAITS {tenant_id: $tenant_id, link: 'EVIDENCED_BY'}]->(awaited)
}
CALL (new, row) {
  MATCH (memory:Memory)
  WHERE memory.key IN row.memory_keys AND memory.tenant_id = $tenant_id
  CREATE (new)-[:DERIVED_FROM {tenant_id: $tenant_id}]->(memory)
}
RETURN at_us
ORDER BY new.artifact_id
