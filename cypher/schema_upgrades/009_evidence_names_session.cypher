// The links of artifacts to their evidence name its session.
//
// mode: write
// row:  -
MATCH (:Artifact)-[link:EVIDENCED_BY]->(event:Event)
SET link.session_key = event.session_key;
