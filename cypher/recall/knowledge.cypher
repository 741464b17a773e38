// Fetch the knowledge that matches a question, as one row. By words: artifacts, memories, task records with the replies
// that determine their trust, and entities. Always: hard rules, the newest soft ones, pinned memories, recent goals
// that `remember` stated, and the goals and actions of the running session. Also the $chosen procedure, playbooks for
// the $failure, policies about the $expected actions, and open conflicts. The result does not depend on the ranking of
// events, so the server runs this statement while the client ranks.
//
// Everything is read as of $as_of_us. Lists without a LIMIT are unordered; lists with one have a total order. Full-text
// search returns best hits first and cannot filter by time, so as-of queries over-fetch by $reach. The scores of a
// search depend on the words of all tenants. If a search was cut off, or found more than are returned, each of the
// $terms is therefore searched alone, and the hits are ranked here by which terms are rare in the tenant; terms with
// too many hits do not count. cut_off: there are, or may be, more hits than are returned, or more hard rules than the
// 1,000 that are returned (a pack holds at most 500 entries). A node that is read while a commit changes it may lack
// its times: it is returned, so that the reader notices and reads again.
//
// *evidence* has the latest visible event of each artifact or memory that has at most 40 events.
//
// Conflicts: the latest 60 and those of the fetched artifacts and memories. A conflict is ignored if one of its sides is
// a proposal, has only evidence that was erased or has expired, or may not be seen by the reader. Relations come with
// recall/surroundings.
//
// With $earlier, the observations of memories and the mentions of entities are counted as of then, except for entities
// with more than 1,000 mentions: counting those is too expensive, so they keep their current number.
//
// *outdated* has the events behind fetched memories that no longer hold, each with whether its memory was deleted. An
// event that also supports a memory in force is left out.
//
// Of the running session, memories are read from the first and the last 1,000 events: its goals are returned, others
// only marked as *here*. Actions, results and errors are read from the last 1,000 events, at most 200.
//
// *endings* of a goal that was taken from the first request of a session: the last eight events, latest first, of the
// latest three sessions that began with this request and have no outcome.
//
// The only evidence of an imported memory is its import event, which says nothing about it and is not returned.
//
// A memory bound to a user is read only if that user is one of $owners or, unless the pack is $for_user, speaks in the
// running session. Proposals of sources without authority are not read, nor, unless $anywhere is set, are memories with
// scopes of which none is in $scopes. Without $knows, the pack is for episodes alone, and pinned memories are left out.
//
// Planner: without the hints it scans all nodes of a label as long as the statistics say that there are few; endNode
// and startNode keep it from starting at the far end when expanding from a record, an event or an entity. The ORDER BY
// repeats the properties of the index, so that the latest session events are read in its order.
//
// mode: read
// row:  artifacts, memories, evidence, outdated, task_records, entities, conflicts, session, session_events, cut_off
CALL () {
  OPTIONAL MATCH (running:Session {key: $session_key})
  USING INDEX SEEK running:Session(key)
  WHERE running.tenant_id = $tenant_id
  RETURN
    coalesce(running.event_count, 0) AS session_events,
    $owners + CASE WHEN $for_user THEN [] ELSE coalesce(running.user_keys, []) END AS audience
}
CALL (audience, session_events) {
  CALL (session_events) {
    MATCH (event:Event)
    USING INDEX SEEK event:Event(session_key, sequence)
    WHERE event.session_key = $session_key AND event.sequence IS NOT NULL AND event.tenant_id = $tenant_id
    RETURN event
    ORDER BY event.session_key, event.sequence, event.time_us, event.event_id
    LIMIT 1000
    UNION
    WITH session_events
    WHERE session_events > 1000
    MATCH (event:Event)
    USING INDEX SEEK event:Event(session_key, sequence)
    WHERE event.session_key = $session_key AND event.sequence IS NOT NULL AND event.tenant_id = $tenant_id
    RETURN event
    ORDER BY event.session_key DESC, event.sequence DESC, event.time_us DESC, event.event_id DESC
    LIMIT 1000
  }
  MATCH (event)<-[link:EVIDENCED_BY]-()
  WITH startNode(link) AS memory
  WHERE memory:Memory AND memory.proposed IS NULL AND (memory.owner_key IS NULL OR memory.owner_key IN audience)
    AND ($anywhere OR memory.scopes IS NULL OR any(scope IN memory.scopes WHERE scope IN $scopes))
  WITH DISTINCT memory
  RETURN collect(memory) AS session_memories
}
CALL (audience) {
  CALL db.index.fulltext.queryNodes('knowledge_text', $words, {limit: 60 * $reach}) YIELD node
  WITH collect(node) AS nodes
  RETURN
    size(nodes) >= 60 * $reach AS knowledge_cut,
    [node IN nodes WHERE node.tenant_id = $tenant_id AND coalesce(node.first_us, node.status_times[0], 0) <= $as_of_us
      AND node.proposed IS NULL AND (node.owner_key IS NULL OR node.owner_key IN audience)
      AND ($anywhere OR node.scopes IS NULL OR any(scope IN node.scopes WHERE scope IN $scopes))] AS visible_hits
}
CALL (audience, knowledge_cut, visible_hits) {
  UNWIND CASE WHEN knowledge_cut OR size(visible_hits) > 60 THEN range(0, size($terms) - 1) ELSE [] END AS place
  WITH audience, place
  WHERE $terms[place] <> ''
  CALL (audience, place) {
    CALL db.index.fulltext.queryNodes('knowledge_text', $terms[place], {limit: 400 * $reach}) YIELD node
    RETURN
      count(*) AS hit_count,
      collect(CASE
        WHEN node.tenant_id = $tenant_id AND coalesce(node.first_us, node.status_times[0], 0) <= $as_of_us
          AND node.proposed IS NULL AND (node.owner_key IS NULL OR node.owner_key IN audience)
          AND ($anywhere OR node.scopes IS NULL OR any(scope IN node.scopes WHERE scope IN $scopes)) THEN node
      END) AS nodes
  }
  WITH nodes, hit_count, $weights[place] * log(1 + 10000 / (size(nodes) + 0.5)) AS worth
  WHERE hit_count < 400 * $reach
  UNWIND nodes AS node
  WITH node, round(sum(worth), 6) AS score
  ORDER BY score DESC, coalesce(node.artifact_id, node.memory_id)
  LIMIT 60
  RETURN collect(node) AS ranked
}
WITH
  audience,
  session_events,
  session_memories,
  (ranked + [node IN visible_hits WHERE NOT node IN ranked])[0..60] AS text_hits,
  knowledge_cut OR size(visible_hits) > 60 AS knowledge_cut
CALL (audience, session_memories, text_hits) {
  CALL (audience, session_memories, text_hits) {
    UNWIND text_hits AS record
    RETURN record
    UNION
    MATCH (record:Memory {tenant_id: $tenant_id, kind: 'policy'})
    USING INDEX SEEK record:Memory(tenant_id, kind)
    WHERE record.hard AND record.first_us <= $as_of_us AND record.proposed IS NULL
      AND (record.owner_key IS NULL OR record.owner_key IN audience)
      AND ($anywhere OR record.scopes IS NULL OR any(scope IN record.scopes WHERE scope IN $scopes))
    RETURN record
    ORDER BY coalesce(record.valid_to_us > $as_of_us, true) DESC, record.first_us DESC, record.memory_id
    LIMIT 1000
    UNION
    MATCH (record:Memory {tenant_id: $tenant_id, kind: 'policy'})
    USING INDEX SEEK record:Memory(tenant_id, kind)
    WHERE NOT coalesce(record.hard, false) AND record.first_us <= $as_of_us AND record.proposed IS NULL
      AND (record.owner_key IS NULL OR record.owner_key IN audience)
      AND ($anywhere OR record.scopes IS NULL OR any(scope IN record.scopes WHERE scope IN $scopes))
    RETURN record
    ORDER BY record.first_us DESC, record.memory_id
    LIMIT 60
    UNION
    MATCH (record:Memory {tenant_id: $tenant_id, extraction_method: 'remembered', kind: 'goal'})
    USING INDEX SEEK record:Memory(tenant_id, extraction_method, kind)
    WHERE record.first_us <= $as_of_us AND record.last_us >= $active_us AND record.proposed IS NULL
      AND (record.owner_key IS NULL OR record.owner_key IN audience)
      AND ($anywhere OR record.scopes IS NULL OR any(scope IN record.scopes WHERE scope IN $scopes))
    RETURN record
    ORDER BY record.last_us DESC, record.memory_id
    LIMIT 10
    UNION
    MATCH (record:Memory {tenant_id: $tenant_id, pinned: true})
    USING INDEX SEEK record:Memory(tenant_id, pinned)
    WHERE $knows AND record.first_us <= $as_of_us AND record.proposed IS NULL
      AND (record.owner_key IS NULL OR record.owner_key IN audience)
      AND ($anywhere OR record.scopes IS NULL OR any(scope IN record.scopes WHERE scope IN $scopes))
    RETURN record
    ORDER BY record.first_us DESC, record.memory_id
    LIMIT 60
    UNION
    UNWIND [memory IN session_memories WHERE memory.kind = 'goal'] AS record
    RETURN record
    UNION
    WITH 1 AS once
    WHERE $failure <> ''
    MATCH (record:Artifact)
    USING INDEX SEEK record:Artifact(tenant_id, status, guides)
    WHERE record.tenant_id = $tenant_id AND record.status = 'active' AND record.guides = 'failure_playbook'
      AND record.metadata CONTAINS $failure
    RETURN record
    ORDER BY record.artifact_id
    LIMIT 10
    UNION
    MATCH (record:Artifact)
    USING INDEX SEEK record:Artifact(tenant_id, status, guides)
    WHERE record.tenant_id = $tenant_id AND record.status = 'active' AND record.guides = 'decision_policy'
      AND any(name IN $expected WHERE record.metadata CONTAINS name)
    RETURN record
    ORDER BY record.observed_count DESC, record.artifact_id
    LIMIT 10
    UNION
    UNWIND $chosen AS key
    MATCH (record:Artifact {key: key})
    USING INDEX SEEK record:Artifact(key)
    WHERE record.tenant_id = $tenant_id
    RETURN record
  }
  RETURN collect(record) AS records
}
CALL (records) {
  UNWIND [record IN records WHERE record:Artifact AND coalesce(record.status_times[0], 0) <= $as_of_us] AS artifact
  RETURN collect(artifact {
    .artifact_id, .artifact_type, .title, .summary, .text, .token_count, .search_text, .content, .content_hash, .confidence,
    .agent_id, .tags, .metadata, .created_us, .status_times, .status_values, .count_times, .observed_counts,
    .success_rates, .valid_from_us, .valid_to_us, .valid_agents, .valid_tags, .valid_tenants, .validity_scope,
    source_events: size(artifact.source_events),
    linked: EXISTS { (artifact)-[:EVIDENCED_BY]->() },
    alive: EXISTS {
      (artifact)-[:EVIDENCED_BY]->(event:Event)
      WHERE event.erased IS NULL AND coalesce(event.expires_us > $as_of_us, true)
    }
  }) AS artifacts
}
CALL (records, session_memories) {
  UNWIND [record IN records WHERE record:Memory AND record.first_us <= $as_of_us] AS memory
  CALL (memory) {
    WITH memory
    WHERE $earlier
    MATCH (memory)-[link:EVIDENCED_BY]->()
    WITH endNode(link) AS event
    WHERE event.erased IS NULL AND event.time_us <= $as_of_us
    RETURN count(*) AS seen, max(event.time_us) AS seen_us
  }
  RETURN collect(memory {
    .memory_id, .kind, .text, .token_count, .search_text, .hard, .extraction_method, .valid_from_us, .valid_to_us,
    .expires_us, .pinned, .aliases,
    observation_count: CASE WHEN seen > 0 THEN seen ELSE memory.observation_count END,
    confidence: CASE WHEN seen > 0 THEN round(1 - (1 - memory.surest) ^ seen, 6) ELSE memory.confidence END,
    last_us: coalesce(seen_us, memory.last_us),
    here: memory IN session_memories,
    endings: CASE WHEN memory.extraction_method = 'first_request' THEN COLLECT {
      MATCH (memory)-[:EVIDENCED_BY]->(request:Event)-[:IN_SESSION]->(session:Session)
      WHERE request.time_us <= $as_of_us AND (session.outcome IS NULL OR session.outcome_order[1] > $as_of_us)
      WITH request
      ORDER BY request.time_us DESC, request.event_id
      LIMIT 3
      RETURN COLLECT {
        MATCH (event:Event)
        USING INDEX SEEK event:Event(session_key, sequence)
        WHERE event.session_key = request.session_key AND event.sequence > request.sequence
          AND event.tenant_id = $tenant_id AND event.time_us <= $as_of_us AND event.erased IS NULL
          AND coalesce(event.expires_us > $as_of_us, true)
        RETURN [
          event.event_type, event.speaker, coalesce(event.failed, false),
          CASE event.event_type WHEN 'message' THEN right(event.text, 400) ELSE left(event.text, 400) END
        ]
        ORDER BY event.session_key DESC, event.sequence DESC, event.time_us DESC, event.event_id DESC
        LIMIT 8
      }
    } ELSE [] END,
    linked: EXISTS { (memory)-[:EVIDENCED_BY]->() },
    alive: EXISTS {
      (memory)-[:EVIDENCED_BY]->(event:Event)
      WHERE event.erased IS NULL AND coalesce(event.expires_us > $as_of_us, true)
    }
  }) AS memories
}
CALL (records) {
  UNWIND records AS record
  WITH record
  WHERE COUNT { (record)-[:EVIDENCED_BY]->() } <= 40
  MATCH (record)-[link:EVIDENCED_BY]->()
  WITH record, endNode(link) AS event
  WHERE event.tenant_id = $tenant_id AND event.erased IS NULL AND event.time_us <= $as_of_us
    AND coalesce(event.expires_us > $as_of_us, true)
    AND event.recall_row IS NOT NULL AND event.event_type <> 'x-hmxgraph-fingerprint_import'
  WITH record, event
  ORDER BY event.time_us DESC, event.event_id
  WITH record, head(collect(event)) AS event
  RETURN collect([coalesce(record.artifact_id, record.memory_id), event.recall_row, event.text]) AS evidence
}
CALL (records) {
  UNWIND [
    record IN records
    WHERE record:Memory AND (record.valid_to_us <= $as_of_us OR record.expires_us <= $as_of_us)
  ] AS ended
  MATCH (ended)-[link:EVIDENCED_BY]->()
  WITH ended, endNode(link) AS event
  WHERE NOT EXISTS {
    MATCH (event)<-[:EVIDENCED_BY]-(current:Memory)
    WHERE current.proposed IS NULL
      AND coalesce(current.valid_to_us > $as_of_us, true) AND coalesce(current.expires_us > $as_of_us, true)
  }
  RETURN collect([event.event_id, coalesce(ended.deleted_us <= $as_of_us, false)]) AS outdated
}
CALL () {
  CALL db.index.fulltext.queryNodes('record_text', $words, {limit: 40 * $reach}) YIELD node
  WITH collect(node) AS nodes
  RETURN
    size(nodes) >= 40 * $reach AS records_cut,
    [node IN nodes WHERE node.tenant_id = $tenant_id AND node.created_us <= $as_of_us AND node.erased IS NULL
      AND node.artifact_kind <> 'digest'
      AND NOT coalesce(node.artifact_role, '') IN ['claim', 'release']] AS visible_records
}
CALL (records_cut, visible_records) {
  UNWIND CASE WHEN records_cut OR size(visible_records) > 40 THEN range(0, size($terms) - 1) ELSE [] END AS place
  WITH place
  WHERE $terms[place] <> ''
  CALL (place) {
    CALL db.index.fulltext.queryNodes('record_text', $terms[place], {limit: 400 * $reach}) YIELD node
    RETURN
      count(*) AS hit_count,
      collect(CASE
        WHEN node.tenant_id = $tenant_id AND node.created_us <= $as_of_us AND node.erased IS NULL
          AND node.artifact_kind <> 'digest' AND NOT coalesce(node.artifact_role, '') IN ['claim', 'release'] THEN node
      END) AS nodes
  }
  WITH nodes, hit_count, $weights[place] * log(1 + 10000 / (size(nodes) + 0.5)) AS worth
  WHERE hit_count < 400 * $reach
  UNWIND nodes AS node
  WITH node, round(sum(worth), 6) AS score
  ORDER BY score DESC, node.artifact_id
  LIMIT 40
  RETURN collect(node) AS ranked_records
}
CALL (visible_records, ranked_records) {
  UNWIND (ranked_records + [node IN visible_records WHERE NOT node IN ranked_records])[0..40] AS record
  RETURN collect(record {
    .artifact_id, .artifact_kind, .agent_id, .session_id, .task_id, .created_us, .text, .search_text, .pack_section,
    .hidden_us,
    replies: [
      (reply:TaskRecord)-[:REPLIES_TO]->(record)
      WHERE reply.created_us <= $as_of_us AND (reply.hidden_us IS NULL OR reply.hidden_us > $as_of_us) |
      reply {.artifact_id, .artifact_kind, .agent_id, .supports_claim, .verification_status, .created_us}
    ]
  }) AS task_records
}
CALL () {
  CALL db.index.fulltext.queryNodes('entity_text', $words, {limit: 40 * $reach}) YIELD node
  WITH collect(node) AS nodes
  RETURN
    size(nodes) >= 40 * $reach AS entities_cut,
    [node IN nodes WHERE node.tenant_id = $tenant_id AND node.status = 'active'
      AND node.first_us <= $as_of_us] AS visible_entities
}
CALL (entities_cut, visible_entities) {
  UNWIND CASE WHEN entities_cut OR size(visible_entities) > 40 THEN range(0, size($terms) - 1) ELSE [] END AS place
  WITH place
  WHERE $terms[place] <> ''
  CALL (place) {
    CALL db.index.fulltext.queryNodes('entity_text', $terms[place], {limit: 400 * $reach}) YIELD node
    RETURN
      count(*) AS hit_count,
      collect(CASE
        WHEN node.tenant_id = $tenant_id AND node.status = 'active' AND node.first_us <= $as_of_us THEN node
      END) AS nodes
  }
  WITH nodes, hit_count, $weights[place] * log(1 + 10000 / (size(nodes) + 0.5)) AS worth
  WHERE hit_count < 400 * $reach
  UNWIND nodes AS node
  WITH node, round(sum(worth) / (1 + size(split(node.search_text, ' '))), 6) AS score
  ORDER BY score DESC, node.key
  LIMIT 40
  RETURN collect(node) AS ranked_entities
}
WITH
  *,
  (ranked_entities + [node IN visible_entities WHERE NOT node IN ranked_entities])[0..40] AS best_entities,
  knowledge_cut
    OR records_cut OR size(visible_records) > 40
    OR size([record IN records WHERE record.hard]) >= 1000
    OR entities_cut OR size(visible_entities) > 40 AS cut_off
CALL (best_entities) {
  UNWIND best_entities AS entity
  CALL (entity) {
    WITH entity
    WHERE $earlier AND COUNT { (entity)<-[:MENTIONS]-() } <= 1000
    MATCH (entity)<-[mention:MENTIONS]-()
    WITH startNode(mention) AS source
    WHERE (source:Event AND source.erased IS NULL AND source.time_us <= $as_of_us)
      OR (source:TaskRecord AND source.erased IS NULL AND source.created_us <= $as_of_us)
    RETURN count(*) AS seen, max(coalesce(source.time_us, source.created_us)) AS seen_us
  }
  RETURN collect([
    entity.key, entity.name, entity.type, CASE WHEN seen > 0 THEN seen ELSE entity.mention_count END,
    entity.confidence, coalesce(seen_us, entity.last_us)
  ]) AS entities
}
CALL (audience, records) {
  CALL (records) {
    UNWIND CASE WHEN $earlier THEN ['open', 'resolved'] ELSE ['open'] END AS present_status
    CALL (present_status) {
      MATCH (conflict:Conflict)
      USING INDEX SEEK conflict:Conflict(tenant_id, status, place)
      WHERE conflict.tenant_id = $tenant_id AND conflict.status = present_status AND conflict.place > $newest
        AND (conflict.resolved_us IS NULL OR conflict.resolved_us > $as_of_us)
      WITH conflict
      ORDER BY conflict.tenant_id, conflict.status, conflict.place
      LIMIT 60
      RETURN conflict
    }
    RETURN conflict
    ORDER BY conflict.place
    LIMIT 60
    UNION
    UNWIND records AS record
    MATCH (record)<-[:BETWEEN]-(conflict:Conflict)
    WHERE conflict.tenant_id = $tenant_id AND conflict.detected_us <= $as_of_us
      AND (conflict.resolved_us IS NULL OR conflict.resolved_us > $as_of_us)
    RETURN conflict
  }
  WITH conflict, audience
  WHERE NOT EXISTS {
    MATCH (conflict)-[link:BETWEEN]->()
    WITH endNode(link) AS side
    WHERE coalesce(side.proposed, false)
      OR (side.owner_key IS NOT NULL AND NOT side.owner_key IN audience)
      OR NOT ($anywhere OR side.scopes IS NULL OR any(scope IN side.scopes WHERE scope IN $scopes))
    RETURN side
  }
  AND NOT EXISTS {
    MATCH (conflict)-[:BETWEEN]->(side)
    WHERE EXISTS { (side)-[:EVIDENCED_BY]->() }
      AND NOT EXISTS {
        (side)-[:EVIDENCED_BY]->(event:Event)
        WHERE event.erased IS NULL AND coalesce(event.expires_us > $as_of_us, true)
      }
  }
  RETURN collect(conflict {
    .conflict_id, .reason, .text, .token_count, .detected_us,
    sides: [(conflict)-[:BETWEEN]->(side) | coalesce(side.artifact_id, side.memory_id, side.key)],
    scopes: [(conflict)-[:BETWEEN]->(side:Artifact) | side {
      .valid_from_us, .valid_to_us, .valid_agents, .valid_tags, .valid_tenants
    }]
  }) AS conflicts
}
CALL () {
  MATCH (event:Event)
  USING INDEX SEEK event:Event(session_key, sequence)
  WHERE event.session_key = $session_key AND event.sequence IS NOT NULL AND event.tenant_id = $tenant_id
    AND event.time_us <= $as_of_us
    AND event.erased IS NULL AND coalesce(event.expires_us > $as_of_us, true)
  WITH event
  ORDER BY event.session_key DESC, event.sequence DESC, event.time_us DESC, event.event_id DESC
  LIMIT 1000
  WITH event
  WHERE event.event_type IN [
    'tool_call', 'tool_result', 'error', 'command_exec', 'test_run', 'file_edit', 'api_result', 'browser_action'
  ]
  ORDER BY event.session_key DESC, event.sequence DESC, event.time_us DESC, event.event_id DESC
  LIMIT 200
  RETURN collect([
    event.event_type,
    left(event.text, 400),
    CASE
      WHEN NOT event.event_type IN ['tool_result', 'error'] AND size(event.content) <= 4000 THEN event.content
      ELSE '{}'
    END,
    event.call_id,
    coalesce(event.failed, false)
  ]) AS session
}
RETURN
  artifacts,
  memories,
  evidence,
  outdated,
  task_records,
  entities,
  conflicts,
  session,
  session_events,
  cut_off
