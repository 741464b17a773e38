// Supersession chains: what replaced what.
//
// Every artifact that replaced another, newer first within its chain, as a picture.
//
// A condition on the time of recording lets the planner use the index of tenant and time of recording; without the hint
// it reads all chains while there are few.
//
// mode: read
// row:  newer, relation, older
MATCH (newer:Artifact)-[relation:SUPERSEDES]->(older:Artifact)
USING INDEX SEEK newer:Artifact(tenant_id, recorded_us)
WHERE newer.tenant_id = $tenant_id AND newer.recorded_us IS NOT NULL AND older.tenant_id = $tenant_id
RETURN newer, relation, older
ORDER BY newer.lineage_key, newer.version DESC, newer.artifact_id
