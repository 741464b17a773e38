// Delete the digests that meet all given criteria: session, agent, older than a time. A digest without a session counts
// for the session of its task. Digests have no events, so the erasure of events does not reach them.
//
// mode: write
// row:  -
MATCH (digest:TaskRecord)
WHERE digest.tenant_id = $tenant_id AND digest.artifact_kind = 'digest' AND digest.created_us IS NOT NULL
  AND (
    $chosen.session_id IS NULL OR digest.session_id = $chosen.session_id
    OR (digest.session_id IS NULL AND digest.task_id = $chosen.task_id)
  )
  AND ($chosen.agent_id IS NULL OR digest.agent_id = $chosen.agent_id)
  AND ($chosen.before_us IS NULL OR digest.created_us < $chosen.before_us)
DETACH DELETE digest
