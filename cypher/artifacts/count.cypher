// The number of the tenant's artifacts that apply to the reader as of a time: one row.
//
// The conditions are those of artifacts/list: validity scope (HMX-A 6), type, tags, words of a search, and status at
// that time.
//
// mode: read
// row:  total
MATCH (artifact:Artifact)
USING INDEX SEEK artifact:Artifact(tenant_id, recorded_us)
WHERE artifact.tenant_id = $tenant_id
  AND artifact.recorded_us <= $as_of_us
  AND ($artifact_type IS NULL OR artifact.artifact_type = $artifact_type)
  AND ($compiled_by IS NULL OR artifact.agent_id = $compiled_by)
  AND all(tag IN $tags WHERE tag IN coalesce(artifact.tags, []))
  AND (size($terms) = 0 OR all(term IN $terms WHERE term IN split(artifact.search_text, ' ')))
  AND coalesce(artifact.valid_from_us <= $moment_us, true)
  AND coalesce($moment_us <= artifact.valid_to_us, true)
  AND coalesce($tenant_id IN artifact.valid_tenants, true)
  AND ($agent_id IS NULL OR artifact.valid_agents IS NULL OR $agent_id IN artifact.valid_agents)
  AND (size($situation) = 0 OR artifact.valid_tags IS NULL OR any(tag IN $situation WHERE tag IN artifact.valid_tags))
  AND ($status IS NULL OR $status = [i IN range(0, size(artifact.status_times) - 1)
    WHERE artifact.status_times[i] <= $as_of_us | artifact.status_values[i]][-1])
RETURN count(artifact) AS total
