// Blank the conflicts of artifacts whose evidence was erased: a conflict repeats what its sides say.
//
// mode: write
// row:  -
MATCH (artifact:Artifact)
WHERE artifact.key IN $batch.artifact_keys AND artifact.tenant_id = $tenant_id
MATCH (artifact)<-[:BETWEEN]-(conflict:Conflict)
WITH DISTINCT conflict
ORDER BY conflict.key
SET
  conflict.reason = 'what a side said was erased',
  conflict.text = 'Conflict: what a side said was erased'
