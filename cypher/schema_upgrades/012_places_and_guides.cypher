// Set the properties of artifacts and conflicts that the new indexes hold. All artifacts about a condition or cause are
// compared once more.
//
// mode: write
// row:  -
MATCH (artifact:Artifact)
SET
  artifact.guides = CASE
    WHEN artifact.artifact_type IN ['task_schema', 'failure_playbook'] THEN artifact.artifact_type
    WHEN artifact.artifact_type = 'decision_policy' AND artifact.metadata CONTAINS '"tools":["' THEN artifact.artifact_type
  END,
  artifact.uncompared = CASE WHEN artifact.situation_key IS NOT NULL THEN true END;

MATCH (conflict:Conflict)
SET conflict.place =
  right('0' + toString(1000000000000000000 - conflict.detected_us), 19) + '/' + conflict.conflict_id;
