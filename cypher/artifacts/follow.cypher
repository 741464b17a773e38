// Replace an active artifact by the draft that was proposed as its successor (HMX-A 7).
//
// Both are locked by artifacts/lock; artifacts/transition then makes the draft active at the time returned. No row if
// the predecessor is not active, has a successor or differs in type or version. A draft with the content of its
// predecessor takes over the dedup_key, which only one of them can have.
//
// Planner: without the hint it may search all artifacts of the tenant with that status.
//
// mode: write
// row:  at_us
MATCH (old:Artifact {key: $old_key})
USING INDEX SEEK old:Artifact(key)
WHERE old.tenant_id = $tenant_id
  AND old.status = 'active'
  AND NOT EXISTS { (:Artifact)-[:SUPERSEDES]->(old) }
MATCH (new:Artifact {key: $key})
USING INDEX SEEK new:Artifact(key)
WHERE new.tenant_id = $tenant_id
  AND new.status = 'draft'
  AND new.supersedes_key IS NULL
  AND new.supersedes = old.artifact_id
  AND new.artifact_type = old.artifact_type
  AND new.version = old.version + 1
WITH old, new, old.dedup_key AS dedup_key, reduce(
  latest = $at_us,
  time_us IN [old.status_times[-1], new.status_times[-1]] | CASE WHEN time_us > latest THEN time_us ELSE latest END
) AS at_us
SET
  old.status = 'superseded',
  old.superseded_by = new.artifact_id,
  old.updated_us = at_us,
  old.status_times = old.status_times + at_us,
  old.status_values = old.status_values + 'superseded',
  old.status_reasons = old.status_reasons + '',
  old.dedup_key = null
SET
  new.chain_key = old.chain_key,
  new.lineage_key = old.lineage_key,
  new.supersedes_key = old.key,
  new.dedup_key = coalesce(new.dedup_key, dedup_key)
CREATE (new)-[:SUPERSEDES {tenant_id: $tenant_id}]->(old)
RETURN at_us
