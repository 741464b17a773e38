// Failures and what fixed them, as a picture.
//
// Failure playbooks, their evidence, and how these events are linked, at most 200 rows. Drafts are shown too, such as a
// recovery that never worked.
//
// mode: read
// row:  playbook, evidence, event, relation, other
MATCH (playbook:Artifact {tenant_id: $tenant_id, artifact_type: 'failure_playbook'})
WHERE playbook.status IN ['active', 'draft']
MATCH (playbook)-[evidence:EVIDENCED_BY]->(event:Event)
OPTIONAL MATCH (event)-[relation:NEXT|ANSWERS|CAUSED_BY|ABOUT]->(other:Event)
WHERE EXISTS { (playbook)-[:EVIDENCED_BY]->(other) }
RETURN playbook, evidence, event, relation, other
ORDER BY playbook.observed_count DESC, playbook.artifact_id, event.time_us, event.event_id, type(relation), other.event_id
LIMIT 200
