// Supersession chains: what took whose place.
//
// Every artifact that took another's place, newer first within its chain, as a picture.
//
// The time of recording is named for its index.
//
// mode: read
// row:  newer, relation, older
MATCH (newer:Artifact {tenant_id: $tenant_id})-[relation:SUPERSEDES]->(older:Artifact {tenant_id: $tenant_id})
WHERE newer.recorded_us IS NOT NULL
RETURN newer, relation, older
ORDER BY newer.lineage_key, newer.version DESC, newer.artifact_id
