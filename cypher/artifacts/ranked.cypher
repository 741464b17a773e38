// A page of the tenant's artifacts that apply to the reader as of a time, sorted by the number that the reader chose,
// such as the confidence. Its present value counts, even as of an earlier time.
//
// All artifacts that match are read and sorted: no index has this order. *direction* is 1 or -1, so that one comparison
// finds the next page in either order.
//
// mode: read
// row:  artifact, place
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
WITH artifact, $direction * CASE $sort
  WHEN 'confidence' THEN toFloat(artifact.confidence)
  WHEN 'evidence' THEN toFloat(CASE
    WHEN artifact.observed_counts[-1] >= 0 THEN artifact.observed_counts[-1]
    ELSE size(coalesce(artifact.source_events, []))
  END)
  WHEN 'updated' THEN toFloat(reduce(
    latest = coalesce(artifact.given_updated_us, artifact.created_us),
    changed_us IN artifact.status_times[1..] + artifact.count_times[1..] |
    CASE WHEN changed_us > latest THEN changed_us ELSE latest END
  ))
  ELSE toFloat(artifact.created_us)
END AS place
WHERE [place, artifact.artifact_id] > [coalesce($after_place, -1.7e308), coalesce($after_id, '')]
WITH artifact, place
ORDER BY place, artifact.artifact_id
LIMIT $limit
RETURN properties(artifact) AS artifact, place
ORDER BY place, artifact.artifact_id
