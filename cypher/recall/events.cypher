// Fetch the candidate events of a question, as one row: full-text hits and their neighbours in the session.
//
// $works: the question is a request for work. Only then also fetch what selects the leading procedure: the compiler
// model, active task schemas, and the actions and latest events of the running session. The model has no history, so it
// is left out for an earlier time. After an erasure it has no hash, and is left out too. A model whose hash is in
// $models is not sent, because the client has it cached. $guided: also fetch the priors of the imported fingerprint in
// force.
//
// Without $works, the caller passes a $session_key that no session has: a condition on $works would be checked for
// every event of a long session. Of the last 1,000 events, the last 200 actions are read.
//
// One row with unordered lists decodes faster than many rows; the client sorts them, and removes neighbours that are
// later, expired or erased. An event is its precomputed recall_row and its text (at most 4,000 characters): fetching
// the texts of only the packed events in another statement took twice as long. Erased events and those that `remember`
// wrote have no recall_row, and are never candidates.
//
// Full-text scores depend on the words of all tenants. If the search was cut off or has more than $windows hits, and
// the tenant has at most $few events, each of the $terms is therefore searched alone, and the events are ranked here:
// by how rare the terms are among the tenant's own events and, as in BM25, by length (96 tokens: a typical message).
// The scores of a larger tenant depend mostly on its own words. Only about twice $limit events are read for that,
// because reading one property of a node walks through all of them. Terms with $most hits or more are ignored: there is
// no telling which hits matter. If the others find too few events, the best hits of the search for all terms follow.
// Full-text search cannot filter by time, so as-of queries over-fetch by $reach.
//
// For the first $windows hits (the centres), four turns on both sides are fetched too, so that the client knows which
// events are adjacent: asking each event for its NEXT would take 1 to 2 ms. cut_off: the index may have more hits, or
// some hits are not centres. state_version is read first here and again by the last statement, to detect concurrent
// commits. The ORDER BY repeats the properties of the index, so that the latest session events are read in its order.
//
// mode: read
// row:  state_version, as_of_us, event_count, cut_off, events, texts, centres, model_hash, model, schemas, actions, latest, priors
MATCH (tenant:Tenant {key: $tenant_key, tenant_id: $tenant_id})
WITH
  tenant,
  tenant.state_version AS state_version,
  tenant.event_count AS event_count,
  coalesce($as_of_us, tenant.logical_us) AS as_of_us
CALL (as_of_us) {
  CALL db.index.fulltext.queryNodes('event_text', $query, {limit: $limit * $reach}) YIELD node
  WITH collect(node) AS nodes
  RETURN
    size(nodes) >= $limit * $reach AS cut,
    [node IN nodes WHERE node.tenant_id = $tenant_id AND node.recall_row IS NOT NULL AND node.time_us <= as_of_us
      AND coalesce(node.expires_us > as_of_us, true)] AS visible_hits
}
CALL (as_of_us, event_count, cut, visible_hits) {
  UNWIND CASE
    WHEN event_count <= $few AND (cut OR size(visible_hits) > $windows) THEN range(0, size($terms) - 1)
    ELSE []
  END AS place
  WITH as_of_us, place
  WHERE $terms[place] <> ''
  CALL (as_of_us, place) {
    CALL db.index.fulltext.queryNodes('event_text', $terms[place], {limit: $most * $reach}) YIELD node AS event
    RETURN
      count(*) >= $most * $reach AS too_many,
      collect(CASE WHEN $reach = 1 OR event.time_us <= as_of_us THEN event END) AS events
  }
  RETURN collect({weight: $weights[place], cut: too_many, events: events}) AS postings
}
CALL (postings) {
  UNWIND [posting IN postings WHERE NOT posting.cut] AS posting
  WITH posting.events AS events, posting.weight * log(1 + 1000 / (size(posting.events) + 0.5)) AS worth
  UNWIND events AS event
  WITH event, round(sum(worth), 6) AS matched
  ORDER BY matched DESC
  WITH collect([event, matched]) AS scored
  RETURN [pair IN scored WHERE pair[1] >= coalesce(scored[2 * $limit][1], 0.0)] AS matches
}
CALL (matches, as_of_us) {
  UNWIND matches AS pair
  WITH pair[0] AS event, pair[1] AS matched
  WHERE event.tenant_id = $tenant_id AND event.recall_row IS NOT NULL AND event.time_us <= as_of_us
    AND coalesce(event.expires_us > as_of_us, true)
  WITH event, round(matched / (1.3 + 0.9 * event.token_count / 96), 6) AS score
  ORDER BY score DESC, event.event_id
  LIMIT $limit + 1
  RETURN collect(event) AS ranked
}
WITH
  *,
  (ranked + [hit IN visible_hits WHERE NOT hit IN ranked])[0..$limit] AS hits,
  cut OR size(visible_hits) > $windows AS cut_off
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
  USING INDEX SEEK schema:Artifact(tenant_id, status, guides)
  WHERE schema.tenant_id = $tenant_id AND schema.status = 'active' AND schema.guides = 'task_schema'
  RETURN collect([schema.artifact_id, schema.metadata, schema.content, schema.observed_count]) AS schemas
}
CALL (as_of_us) {
  MATCH (event:Event)
  USING INDEX SEEK event:Event(session_key, sequence)
  WHERE event.session_key = $session_key AND event.sequence IS NOT NULL AND event.tenant_id = $tenant_id
    AND event.time_us <= as_of_us
    AND event.erased IS NULL AND coalesce(event.expires_us > as_of_us, true)
  WITH event
  ORDER BY event.session_key DESC, event.sequence DESC, event.time_us DESC, event.event_id DESC
  LIMIT 1000
  WITH event
  WHERE event.event_type IN ['tool_call', 'command_exec', 'test_run', 'file_edit', 'api_result', 'browser_action']
  ORDER BY event.session_key DESC, event.sequence DESC, event.time_us DESC, event.event_id DESC
  LIMIT 200
  RETURN collect([
    event.event_type, CASE WHEN size(event.content) <= 4000 THEN event.content ELSE '{}' END, left(event.text, 200)
  ]) AS actions
}
CALL (as_of_us) {
  MATCH (event:Event)
  USING INDEX SEEK event:Event(session_key, sequence)
  WHERE event.session_key = $session_key AND event.sequence IS NOT NULL AND event.tenant_id = $tenant_id
    AND event.time_us <= as_of_us
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
  actions,
  latest,
  priors
