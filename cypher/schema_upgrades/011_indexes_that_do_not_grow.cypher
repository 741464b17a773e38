// Find the newest conflicts, and the artifacts that were compiled, can guide a session or were not compared with others
// yet, without reading all conflicts and artifacts of a tenant.
//
// mode: schema
// row:  -
CREATE INDEX artifact_lineage IF NOT EXISTS
FOR (n:Artifact) ON (n.tenant_id, n.status, n.lineage_key);

CREATE INDEX artifact_guides IF NOT EXISTS
FOR (n:Artifact) ON (n.tenant_id, n.status, n.guides);

CREATE INDEX artifact_uncompared IF NOT EXISTS
FOR (n:Artifact) ON (n.tenant_id, n.status, n.uncompared);

CREATE INDEX conflict_place IF NOT EXISTS
FOR (n:Conflict) ON (n.tenant_id, n.status, n.place);

DROP INDEX conflict_detected IF EXISTS;
