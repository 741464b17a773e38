// The events that a question may be about: those with its words, and their neighbours in the session. With $works, for
// a request that asks for work, also what procedure is to be chosen by: model, active procedures, what the running
// session did, and its latest events, which tell what it stands before. The model knows no past, so that of an earlier
// time there is none, and none where it was erased and has no hash. It can be large: one whose hash is among $models is
// known already and is not sent. With $guided also the priors of the imported fingerprint in force.
//
// One row with lists of the events, in no order: they are decoded faster than many rows, and the reader sorts them. Of
// each event they have the one property that is made for it and the text, which is short (4,000 characters at most): a
// statement of its own for the texts that a pack shows takes twice as long. The reader leaves out neighbours that came
// later or are expired, and erased ones have no such property. The tenant is part of the Lucene query; the index answers
// best first, so that $limit cuts off the weakest. It knows no times: it is asked for $reach times as many, so that what
// came later does not crowd out what was there. The first $windows hits, the centres, also bring the four turns before
// and after them, which tells what follows upon what: to ask each event for its next one would take 1 to 2 ms. Which hits
// are first follows from the words of all tenants: cut_off tells that the index may have had more, or that some hits are
// no centres. The version of the state is read before all else, and again by the last statement: what others commit in
// between is seen. What the running session did last comes straight from the index, whose properties the order names.
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
    count(*) AS looked_at,
    collect(CASE
      WHEN node.tenant_id = $tenant_id AND node.erased IS NULL AND node.time_us <= as_of_us
        AND coalesce(node.expires_us > as_of_us, true) THEN node
    END) AS found
}
WITH
  *,
  found[0..$limit] AS hits,
  looked_at >= $limit * $reach OR size(found) > $windows AS cut_off
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
  OPTIONAL MATCH (fingerprint:Fingerprint {tenant_id: $tenant_id, direction: 'imported'})-[:EVIDENCED_BY]->(told:Event)
  WHERE $guided
    AND fingerprint.taken_back_us IS NULL
    AND told.erased IS NULL
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
