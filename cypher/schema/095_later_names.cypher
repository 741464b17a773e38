// The property keys that events, memories, entities and imports got later, made known before any statement names them
// (names).
//
// mode: schema
// row:  -
CALL () {
  UNWIND [
    'aliases', 'answer', 'call_id', 'object', 'predicate', 'recorded_version', 'resolution', 'surest', 'tokenizer',
    'validity_scope'
  ] AS name
  CALL db.createProperty(name)
}
