// All states of one kind, on all shelves, in descending order of item, as of a time; only those with $marks (labels
// that states may share), if given.
//
// A shelf groups states that an adapter deletes together, such as the checkpoints of one thread; kind, place, item and
// part identify a state on it.
//
// mode: read
// row:  state
MATCH (state:State)
WHERE state.tenant_id = $tenant_id AND state.kind = $kind
  AND ($marks IS NULL OR state.mark IN $marks)
  AND ($as_of_us IS NULL OR state.stored_us <= $as_of_us)
RETURN properties(state) AS state
ORDER BY state.item DESC, state.shelf, state.place, state.part
