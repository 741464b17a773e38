// Relationship types and property keys that the statements name, made known before any of them is used.
//
// A young database warns of each name that it has not seen. With these known from the start, such a warning always
// means a slip in a statement.
//
// mode: schema
// row:  -
CALL () {
  UNWIND [
    'ABOUT', 'ANSWERS', 'AWAITS', 'BETWEEN', 'CAUSED_BY', 'CORRELATES_WITH', 'DERIVED_FROM', 'EVIDENCED_BY',
    'IN_SESSION', 'MENTIONS', 'NEXT', 'PART_OF', 'RELATES_TO', 'REPLIES_TO', 'SEEDED', 'SUPERSEDES'
  ] AS name
  CALL db.createRelationshipType(name)
}
CALL () {
  UNWIND [
    'artifact_id', 'artifact_ids', 'artifact_role', 'artifact_type', 'behaviour', 'behaviour_version',
    'budget', 'compiled_version', 'compiler_parameters', 'confidence', 'conflict_id', 'conflict_ids',
    'content', 'content_hash', 'context_priors', 'correlation_id', 'count_times', 'detected_us', 'digest_key',
    'document', 'embedding_dimension', 'embeddings', 'erased', 'event_count', 'event_hash', 'event_id',
    'event_type', 'evidence_count', 'expires_us', 'extraction_method', 'facets', 'fingerprint_id', 'first_us',
    'generation', 'hard', 'hidden_reason', 'hidden_us', 'hmx_version', 'import_id', 'imported', 'integrity_hash',
    'label', 'last_us', 'lineage_key', 'link', 'logical_us', 'memory_id', 'mention_count', 'metadata', 'model',
    'normalised', 'observation_count', 'observed_count', 'observed_counts', 'outcome', 'outcome_order', 'pack_id', 'pack_section',
    'parent_event_id', 'profile', 'projection_kinds', 'provenance_ref', 'reason', 'recall_row', 'record_hash',
    'relation_type', 'relations', 'resolved_us', 'role', 'salience', 'salience_origin', 'section_tokens',
    'session_id', 'signal', 'signatures', 'source', 'source_events', 'source_memory_ids',
    'source_updated_at_ms', 'speaker', 'stale', 'state_version', 'status_reasons', 'status_times',
    'status_values', 'subject', 'success_rate', 'success_rates', 'summarised_version', 'summary',
    'summary_version', 'superseded_by', 'supports_claim', 'tags', 'taken_back_us', 'text', 'timestamp',
    'title', 'token_count', 'trace_id', 'ttl_seconds', 'valid_agents', 'valid_from_us', 'valid_tags',
    'valid_tenants', 'valid_to_us', 'verification_status', 'weight'
  ] AS name
  CALL db.createProperty(name)
}
