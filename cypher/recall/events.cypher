// Fetch the candidate events of a question: full-text hits and their neighbours in the session. With $works, for a
// request for work, also fetch what selects the leading procedure: the compiler model, active procedures, and the
// actions and latest events of the running session. The model has no history, so it is omitted for an earlier time, and
// after erasure, when it has no hash. It can be large: a model whose hash is in $models is cached by the client and not
// sent. With $guided also fetch the priors of the imported fingerprint in force.
//
// Without $works, $session_key matches no session: a condition would be checked for every event of a long session. The
// actions are those among its last 1,000 events.
//
// Returns one row with unordered lists, which decode faster than many rows; the reader sorts them. Each event comes as
// its precomputed recall_row plus its text (at most 4,000 characters): a separate statement for the texts of the packed
// events takes twice as long. The reader filters out neighbours that are later or expired; erased events and those that
// `remember` wrote have no recall_row.
//
// The scores of full-text search depend on the words of all tenants. If a search was cut off, each of the $terms of a
// tenant with at most $few events is therefore searched alone; a larger tenant dominates these scores itself. The
// events are ranked here, by the rarity of the terms among the tenant's own events and, as in BM25, by their length:
// $limit cuts off the weakest. Properties are read of only about twice as many: reading one walks all properties of a
// node. A term with $most hits or more is too common to tell which of them matter; if the other terms find too few
// events, the best hits of the search for all terms follow. Full-text search cannot filter by time: as-of queries
// over-fetch by $reach, so that later events do not displace earlier ones.
//
// The first $windows hits, the centres, also fetch four turns on both sides, which proves adjacency: asking each event
// for its NEXT would take 1 to 2 ms. cut_off reports that the index may have more hits or that some hits are not
// centres. state_version is read first here and again by the last statement, so that concurrent commits are detected.
// The latest session events come straight from the index, whose properties the ORDER BY repeats.
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
  WITH collect([event, matched]) AS found
  RETURN [pair IN found WHERE pair[1] >= coalesce(found[2 * $limit][1], 0.0)] AS matches
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
  ]) AS done
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
  done,
  latest,
  priors
