// The heads of all chains that the compiler started, whatever their status.
//
// The index seek skips superseded artifacts and chains that the compiler did not start. Counts are the latest of each
// history; -1 stands for none.
//
// mode: read
// row:  head
MATCH (artifact:Artifact)
USING INDEX SEEK artifact:Artifact(tenant_id, status, lineage_key)
WHERE artifact.tenant_id = $tenant_id
  AND artifact.status IN ['draft', 'active', 'deprecated', 'archived']
  AND artifact.lineage_key STARTS WITH $lineages
RETURN
  artifact {
    .artifact_id, .artifact_type, .lineage_key, .version, .status, .title, .summary, .content_hash, .confidence,
    .agent_id, reason: artifact.status_reasons[-1], observed_count: artifact.observed_counts[-1],
    success_rate: artifact.success_rates[-1]
  } AS head
ORDER BY artifact.key
