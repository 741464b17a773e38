// Delete the states on a shelf: all, or those with certain keys.
//
// A shelf groups states that an adapter deletes together, such as the checkpoints of one thread; kind, place, item and
// part identify a state on it.
//
// mode: write
// row:  states
MATCH (state:State)
WHERE state.shelf_key = $shelf_key AND state.tenant_id = $tenant_id
  AND ($keys IS NULL OR state.key IN $keys)
DELETE state
RETURN count(*) AS states
