// Store the event's session on each link from an artifact to its evidence.
//
// mode: write
// row:  -
MATCH (:Artifact)-[link:EVIDENCED_BY]->(event:Event)
SET link.session_key = event.session_key;
