// Failures and what fixed them.
//
// Active failure playbooks: how often the failure was seen, how often the recovery worked.
//
// mode: read
// row:  title, seen, success_rate, confidence, how_to
MATCH (playbook:Artifact {tenant_id: $tenant_id, artifact_type: 'failure_playbook', status: 'active'})
RETURN
  playbook.title AS title,
  playbook.observed_count AS seen,
  playbook.success_rate AS success_rate,
  playbook.confidence AS confidence,
  playbook.text AS how_to
ORDER BY seen DESC, playbook.artifact_id
