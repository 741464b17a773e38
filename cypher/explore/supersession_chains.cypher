// Supersession chains.
//
// Every artifact that took another's place, newer first within its chain, as a picture.
//
// mode: read
// row:  newer, relation, older
MATCH (newer:Artifact {tenant_id: $tenant_id})-[relation:SUPERSEDES]->(older:Artifact {tenant_id: $tenant_id})
RETURN newer, relation, older
ORDER BY newer.lineage_key, newer.version DESC, newer.artifact_id
