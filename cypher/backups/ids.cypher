// The server's ids of all nodes of the tenant, label by label, the tenant's own node last: one row.
//
// A backup reads everything; most labels have no index that begins with the tenant, so the keys of others are passed
// over, never their nodes. API keys are no memory: each server has its own.
//
// mode: read
// row:  ids
CALL () {
  MATCH (node:Session)
  WHERE node.tenant_id = $tenant_id AND node.key > ''
  RETURN collect(elementId(node)) AS ids
  UNION ALL
  MATCH (node:Event)
  WHERE node.tenant_id = $tenant_id AND node.time_us IS NOT NULL
  RETURN collect(elementId(node)) AS ids
  UNION ALL
  MATCH (node:Awaited)
  WHERE node.tenant_id = $tenant_id AND node.key > ''
  RETURN collect(elementId(node)) AS ids
  UNION ALL
  MATCH (node:Entity)
  WHERE node.tenant_id = $tenant_id AND node.key > ''
  RETURN collect(elementId(node)) AS ids
  UNION ALL
  MATCH (node:Memory)
  WHERE node.tenant_id = $tenant_id AND node.key > ''
  RETURN collect(elementId(node)) AS ids
  UNION ALL
  MATCH (node:Artifact)
  WHERE node.tenant_id = $tenant_id AND node.key > ''
  RETURN collect(elementId(node)) AS ids
  UNION ALL
  MATCH (node:Conflict)
  WHERE node.tenant_id = $tenant_id AND node.key > ''
  RETURN collect(elementId(node)) AS ids
  UNION ALL
  MATCH (node:Fingerprint)
  WHERE node.tenant_id = $tenant_id AND node.key > ''
  RETURN collect(elementId(node)) AS ids
  UNION ALL
  MATCH (node:CompilerModel)
  WHERE node.tenant_id = $tenant_id AND node.key > ''
  RETURN collect(elementId(node)) AS ids
  UNION ALL
  MATCH (node:PackReport)
  WHERE node.tenant_id = $tenant_id AND node.key > ''
  RETURN collect(elementId(node)) AS ids
  UNION ALL
  MATCH (node:TaskRecord)
  WHERE node.tenant_id = $tenant_id AND node.key > ''
  RETURN collect(elementId(node)) AS ids
  UNION ALL
  MATCH (node:Facet)
  WHERE node.tenant_id = $tenant_id AND node.key > ''
  RETURN collect(elementId(node)) AS ids
  UNION ALL
  MATCH (node:Task)
  WHERE node.tenant_id = $tenant_id AND node.key > ''
  RETURN collect(elementId(node)) AS ids
  UNION ALL
  MATCH (node:Run)
  WHERE node.tenant_id = $tenant_id AND node.key > ''
  RETURN collect(elementId(node)) AS ids
  UNION ALL
  MATCH (node:Dataset)
  WHERE node.tenant_id = $tenant_id AND node.key > ''
  RETURN collect(elementId(node)) AS ids
  UNION ALL
  MATCH (node:Challenge)
  WHERE node.tenant_id = $tenant_id AND node.key > ''
  RETURN collect(elementId(node)) AS ids
  UNION ALL
  MATCH (node:Contributor)
  WHERE node.tenant_id = $tenant_id AND node.key > ''
  RETURN collect(elementId(node)) AS ids
  UNION ALL
  MATCH (node:UsageHour)
  WHERE node.tenant_id = $tenant_id AND node.key > ''
  RETURN collect(elementId(node)) AS ids
  UNION ALL
  MATCH (node:CompileRun)
  WHERE node.tenant_id = $tenant_id AND node.key > ''
  RETURN collect(elementId(node)) AS ids
  UNION ALL
  MATCH (node:State)
  WHERE node.tenant_id = $tenant_id AND node.key > ''
  RETURN collect(elementId(node)) AS ids
  UNION ALL
  MATCH (node:Tenant)
  WHERE node.tenant_id = $tenant_id AND node.key > ''
  RETURN collect(elementId(node)) AS ids
}
RETURN reduce(all_ids = [], part IN collect(ids) | all_ids + part) AS ids
