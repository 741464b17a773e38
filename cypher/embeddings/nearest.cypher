// Fetch the events whose vectors are closest to that of a question, and the memories that they support, as one row.
//
// A vector index holds the vectors of all tenants and cannot filter. In a tenant of at most $few events, all vectors
// are therefore compared one by one, which is exact. For a larger tenant, the index is queried for $reach times as many
// as needed: its nearest events are missed if that many vectors of other tenants are closer. Similarity is the cosine,
// rounded so that its last digits do not depend on the order of summation.
//
// Memories are selected by user and scope, and returned, as in recall/knowledge, at most 20.
//
// mode: read
// row:  events, texts, similarities, memories, evidence
MATCH (tenant:Tenant {key: $tenant_key, tenant_id: $tenant_id})
WHERE tenant.vector_dimension = size($vector)
WITH tenant.event_count AS event_count, coalesce($as_of_us, tenant.logical_us) AS as_of_us
CALL (event_count, as_of_us) {
  CALL (event_count) {
    WITH event_count
    WHERE event_count <= $few
    MATCH (event:Event)
    USING INDEX SEEK event:Event(tenant_id, time_us)
    WHERE event.tenant_id = $tenant_id AND event.time_us IS NOT NULL AND event.vector IS NOT NULL
    RETURN event, 2 * vector.similarity.cosine(event.vector, $vector) - 1 AS similarity
    UNION ALL
    WITH event_count
    WHERE event_count > $few
    CALL db.index.vector.queryNodes('event_vector', $limit * $reach, $vector) YIELD node AS event, score
    RETURN event, 2 * score - 1 AS similarity
  }
  WITH event, round(similarity, 6) AS similarity, as_of_us
  WHERE event.tenant_id = $tenant_id AND event.erased IS NULL AND event.time_us <= as_of_us
    AND coalesce(event.expires_us > as_of_us, true)
  WITH event, similarity
  ORDER BY similarity DESC, event.event_id
  LIMIT $limit
  RETURN collect(event) AS hits, collect([event.event_id, similarity]) AS similarities
}
CALL () {
  OPTIONAL MATCH (running:Session {key: $session_key})
  USING INDEX SEEK running:Session(key)
  WHERE running.tenant_id = $tenant_id AND NOT $for_user
  RETURN $owners + coalesce(running.user_keys, []) AS audience
}
CALL (hits, audience, as_of_us) {
  UNWIND range(0, size(hits) - 1) AS place
  WITH hits[place] AS event, place, audience, as_of_us
  MATCH (event)<-[link:EVIDENCED_BY]-()
  WITH startNode(link) AS memory, event, place
  WHERE $knows AND memory:Memory AND memory.tenant_id = $tenant_id AND memory.first_us <= as_of_us
    AND memory.proposed IS NULL
    AND (memory.owner_key IS NULL OR memory.owner_key IN audience)
    AND ($anywhere OR memory.scopes IS NULL OR any(scope IN memory.scopes WHERE scope IN $scopes))
  WITH memory, event, place
  ORDER BY place
  WITH memory, min(place) AS place, head(collect(event)) AS event
  ORDER BY place, memory.memory_id
  LIMIT 20
  CALL (memory, as_of_us) {
    WITH memory
    WHERE $earlier
    MATCH (memory)-[link:EVIDENCED_BY]->()
    WITH endNode(link) AS source
    WHERE source.erased IS NULL AND source.time_us <= as_of_us
    RETURN count(*) AS seen, max(source.time_us) AS seen_us
  }
  RETURN
    collect(memory {
      .memory_id, .kind, .text, .token_count, .search_text, .hard, .extraction_method, .valid_from_us, .valid_to_us,
      .expires_us, .pinned, .aliases,
      nearest: event.event_id,
      observation_count: CASE WHEN seen > 0 THEN seen ELSE memory.observation_count END,
      confidence: CASE WHEN seen > 0 THEN round(1 - (1 - memory.surest) ^ seen, 6) ELSE memory.confidence END,
      last_us: coalesce(seen_us, memory.last_us),
      here: EXISTS { (memory)-[:EVIDENCED_BY]->(:Event {session_key: $session_key}) },
      endings: CASE WHEN memory.extraction_method = 'first_request' THEN COLLECT {
        MATCH (memory)-[:EVIDENCED_BY]->(request:Event)-[:IN_SESSION]->(session:Session)
        WHERE request.time_us <= as_of_us AND (session.outcome IS NULL OR session.outcome_order[1] > as_of_us)
        WITH request
        ORDER BY request.time_us DESC, request.event_id
        LIMIT 3
        RETURN COLLECT {
          MATCH (event:Event)
          USING INDEX SEEK event:Event(session_key, sequence)
          WHERE event.session_key = request.session_key AND event.sequence > request.sequence
            AND event.tenant_id = $tenant_id AND event.time_us <= as_of_us AND event.erased IS NULL
            AND coalesce(event.expires_us > as_of_us, true)
          RETURN [event.event_type, event.speaker, coalesce(event.failed, false), right(event.text, 400)]
          ORDER BY event.session_key DESC, event.sequence DESC, event.time_us DESC, event.event_id DESC
          LIMIT 8
        }
      } ELSE [] END,
      linked: true,
      alive: true
    }) AS memories,
    collect(CASE WHEN event.recall_row IS NOT NULL THEN [memory.memory_id, event.recall_row, event.text] END) AS evidence
}
RETURN
  [event IN hits | coalesce(event.recall_row, '')] AS events,
  [event IN hits | coalesce(event.text, '')] AS texts,
  similarities,
  memories,
  evidence
