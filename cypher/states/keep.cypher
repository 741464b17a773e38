// Store states under their keys; a state that is already stored changes only if its row says so.
//
// mode: write
// row:  states
UNWIND $rows AS row
MERGE (state:State {key: row.key})
  ON CREATE SET
    state.tenant_id = $tenant_id,
    state.stored_us = $now_us,
    state += row.properties
SET state += CASE WHEN row.replace THEN row.properties ELSE {} END
RETURN count(state) AS states
