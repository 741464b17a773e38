// Events with similar meaning.
//
// The twenty events whose embeddings are closest to the given one, which must come from the model that made theirs.
//
// The events of the tenant are compared one by one: a vector index would be shared by all tenants, and might find
// events of others first.
//
// mode: read
// row:  event_id, session_id, timestamp, event_type, text, similarity
MATCH (tenant:Tenant {key: $tenant_key, tenant_id: $tenant_id})
WHERE tenant.embedding_dimension = size($embedding) AND any(part IN $embedding WHERE part <> 0)
MATCH (event:Event {tenant_id: $tenant_id, embedding_dimension: tenant.embedding_dimension})
WITH event, vector.similarity.cosine(event.embeddings, $embedding) AS similarity
ORDER BY similarity DESC, event.event_id
LIMIT 20
RETURN
  event.event_id AS event_id,
  event.session_id AS session_id,
  event.timestamp AS timestamp,
  event.event_type AS event_type,
  left(event.text, 200) AS text,
  similarity
ORDER BY similarity DESC, event_id
