// Fetch the candidate events of a question: full-text hits and their neighbours in the session. With $works, for a
// request for work, also fetch what selects the leading procedure: the compiler model, active procedures, and the
// actions and latest events of the running session. The model has no history, so it is omitted for an earlier time, and
// after erasure, when it has no hash. It can be large: a model whose hash is in $models is cached by the client and not
// sent. With $guided also fetch the priors of the imported fingerprint in force.
//
// Returns one row with unordered lists, which decode faster than many rows; the reader sorts them. Each event comes as
// its precomputed recall_row plus its text (at most 4,000 characters): a separate statement for the texts of the packed
// events takes twice as long. The reader filters out neighbours that are later or expired; erased events and those that
// `remember` wrote have no recall_row. The tenant is part of the Lucene query; hits come best first, so $limit cuts off
// the weakest. Full-text search cannot filter by time: as-of queries over-fetch by $reach, so that later events do not
// displace earlier ones.
// The first $windows hits, the centres, also fetch four turns on both sides, which proves adjacency: asking each event
// for its NEXT would take 1 to 2 ms. cut_off reports that the index may have more hits or that some hits are not
// centres, because the order of hits depends on the words of all tenants. state_version is read first here and again by
// the last statement, so that concurrent commits are detected. The latest session events come straight from the index,
// whose properties the ORDER BY repeats.
//
// mode: read
// row:  state_version, as_of_us, event_count, cut_off, events, texts, centres, model_hash, model, schemas, done, latest, priors
MATCH (tenant:Tenant {key: $tenant_key, tenant_id: $tenant_id})
WITH
  tenant,
  tenant.state_version AS state_version,
  tenant.event_count AS event_count,
  coalesce($as_of_us, tenant.logical_us) AS as_of_us
CALL (as_of_us) {
  CALL db.index.fulltext.queryNodes('event_text', $query, {limit: $limit * $reach}) YIELD node
  RETURN
    count(*) AS hit_count,
    collect(CASE
      WHEN node.tenant_id = $tenant_id AND node.recall_row IS NOT NULL AND node.time_us <= as_of_us
        AND coalesce(node.expires_us > as_of_us, true) THEN node
    END) AS visible_hits
}
WITH
  *,
  visible_hits[0..$limit] AS hits,
  hit_count >= $limit * $reach OR size(visible_hits) > $windows AS cut_off
CALL (hits) {
  CALL (hits) {
    UNWIND hits[0..$windows] AS hit
    MATCH (hit)-[:NEXT*1..4]-(near)
    WITH DISTINCT near
    WHERE near.tenant_id = $tenant_id
    RETURN near AS event
    UNION
    UNWIND hits AS event
    RETURN event
  }
  RETURN collect(coalesce(event.recall_row, '')) AS events, collect(coalesce(event.text, '')) AS texts
}
CALL (tenant) {
  OPTIONAL MATCH (model:CompilerModel {key: $model_key, tenant_id: $tenant_id})
  WHERE $works AND ($as_of_us IS NULL OR $as_of_us >= tenant.logical_us) AND model.model_hash <> ''
  RETURN
    model.model_hash AS model_hash,
    CASE WHEN model.model_hash IN $models THEN null ELSE model.model END AS model
}
CALL (model_hash) {
  WITH model_hash
  WHERE model_hash IS NOT NULL
  MATCH (schema:Artifact)
  USING INDEX SEEK schema:Artifact(tenant_id, status)
  WHERE schema.tenant_id = $tenant_id AND schema.status = 'active' AND schema.artifact_type = 'task_schema'
  RETURN collect([schema.artifact_id, schema.metadata, schema.content, schema.observed_count]) AS schemas
}
CALL (as_of_us) {
  MATCH (event:Event)
  USING INDEX SEEK event:Event(session_key, sequence)
  WHERE event.session_key = $session_key AND event.sequence IS NOT NULL AND event.tenant_id = $tenant_id
    AND $works AND event.time_us <= as_of_us
    AND event.erased IS NULL AND coalesce(event.expires_us > as_of_us, true)
    AND event.event_type IN ['tool_call', 'command_exec', 'test_run', 'file_edit', 'api_result', 'browser_action']
  WITH event
  ORDER BY event.session_key DESC, event.sequence DESC, event.time_us DESC, event.event_id DESC
  LIMIT 200
  RETURN collect([
    event.event_type, CASE WHEN size(event.content) <= 4000 THEN event.content ELSE '{}' END, left(event.text, 200)
  ]) AS done
}
CALL (as_of_us) {
  MATCH (event:Event)
  USING INDEX SEEK event:Event(session_key, sequence)
  WHERE event.session_key = $session_key AND event.sequence IS NOT NULL AND event.tenant_id = $tenant_id
    AND $works AND event.time_us <= as_of_us
    AND event.erased IS NULL AND coalesce(event.expires_us > as_of_us, true)
  WITH event
  ORDER BY event.session_key DESC, event.sequence DESC, event.time_us DESC, event.event_id DESC
  LIMIT 24
  RETURN collect(event {
    .event_id, .event_type, .agent_id, .session_id, .sequence, .time_us, .source, .correlation_id, .parent_event_id,
    content: CASE
      WHEN size(event.content) <= CASE WHEN event.failed THEN 64000 ELSE 4000 END THEN event.content
      ELSE '{}'
    END
  }) AS latest
}
CALL (as_of_us) {
  OPTIONAL MATCH (fingerprint:Fingerprint {tenant_id: $tenant_id, direction: 'imported'})-[:EVIDENCED_BY]->(import_event:Event)
  WHERE $guided
    AND fingerprint.taken_back_us IS NULL
    AND import_event.erased IS NULL
    AND fingerprint.recorded_us <= as_of_us
    AND (fingerprint.expires_us IS NULL OR fingerprint.expires_us >= as_of_us)
  RETURN fingerprint.context_priors AS priors
  ORDER BY fingerprint.recorded_us DESC, coalesce(fingerprint.recorded_version, 0) DESC, fingerprint.key
  LIMIT 1
}
RETURN
  state_version,
  as_of_us,
  event_count,
  cut_off,
  events,
  texts,
  [hit IN hits[0..$windows] | hit.event_id] AS centres,
  model_hash,
  model,
  schemas,
  done,
  latest,
  priors
