// Relationship types and property keys of task records, made known before any statement names them.
//
// mode: schema
// row:  -
CALL () {
  UNWIND ['CONTRIBUTED_BY', 'ON_TASK', 'RELATED_TO', 'USES_DATASET'] AS name
  CALL db.createRelationshipType(name)
}
CALL () {
  UNWIND [
    'agent_id', 'artifact_kind', 'challenge_id', 'command', 'created_us', 'description', 'display_name', 'entity_type',
    'erased', 'finished_us', 'goal', 'hidden_us', 'name', 'project_id', 'projection_texts', 'record_hash',
    'relation_kind', 'reply_to_artifact_id', 'requested_action', 'run_id', 'started_us', 'status', 'supersedes_key',
    'task_id', 'thread_id', 'tool_name', 'updated_us', 'version'
  ] AS name
  CALL db.createProperty(name)
}
