// Remove the mark from events that were ahead of the clock. Those that were marked after something had been learned
// from them (retention/hold_back) have their mentions and memories already: learned is true.
//
// A concurrent call waits for the sessions, which are locked before this, and finds no mark.
//
// mode: write
// row:  key, learned
MATCH (event:Event)
WHERE event.key IN $batch.event_keys AND event.tenant_id = $tenant_id AND event.ahead
REMOVE event.ahead
RETURN
  event.key AS key,
  EXISTS { (event)-[:MENTIONS]->() } OR EXISTS { (event)<-[:EVIDENCED_BY]-(:Memory) } AS learned
ORDER BY key
