// Memories that answer the same question, such as where somebody lives.
//
// mode: schema
// row:  -
CREATE INDEX memory_slot IF NOT EXISTS
FOR (n:Memory) ON (n.slot_key)
