// Knowledge without recent evidence.
//
// Active artifacts whose newest evidence is at least the given number of days before the tenant's logical time.
//
// mode: read
// row:  title, artifact_type, last_evidence, days_behind
MATCH (tenant:Tenant {key: $tenant_key, tenant_id: $tenant_id})
MATCH (artifact:Artifact {tenant_id: $tenant_id, status: 'active'})-[:EVIDENCED_BY]->(event:Event)
WITH tenant, artifact, max(event.time_us) AS last_us
WITH artifact, last_us, (tenant.logical_us - last_us) / 86400000000 AS days_behind
WHERE days_behind >= toInteger($days)
RETURN
  artifact.title AS title,
  artifact.artifact_type AS artifact_type,
  toString(datetime({epochMillis: last_us / 1000})) AS last_evidence,
  days_behind
ORDER BY days_behind DESC, artifact.artifact_id
