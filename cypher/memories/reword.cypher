// Give memories the wording of another observation, also in the conflicts that quote them. The memories are locked by
// memories/forget.
//
// mode: write
// row:  -
UNWIND $batch.memories AS row
MATCH (memory:Memory {key: row.key})
WHERE memory.tenant_id = $tenant_id
CALL (memory, row) {
  MATCH (memory)<-[:BETWEEN]-(conflict:Conflict)
  SET conflict.text = replace(conflict.text, memory.text, row.words.text)
}
SET memory += row.words
SET memory.name = left(memory.text, 60)
