// States of one kind on a shelf, in descending order of item, as of a time, at most $limit; only those of $place and of
// $items, if given.
//
// A shelf groups states that an adapter deletes together, such as the checkpoints of one thread; kind, place, item and
// part identify a state on it.
//
// mode: read
// row:  state
MATCH (state:State)
WHERE state.shelf_key = $shelf_key AND state.tenant_id = $tenant_id
  AND state.kind = $kind
  AND ($place IS NULL OR state.place = $place)
  AND ($items IS NULL OR state.item IN $items)
  AND ($as_of_us IS NULL OR state.stored_us <= $as_of_us)
RETURN properties(state) AS state
ORDER BY state.item DESC, state.place, state.part
LIMIT coalesce($limit, 1000000000)
