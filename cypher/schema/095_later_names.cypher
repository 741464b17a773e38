// The property keys that events, memories, entities and imports got later, made known before any statement names them
// (names).
//
// mode: schema
// row:  -
CALL () {
  UNWIND [
    'aliases', 'answer', 'call_id', 'kept_id', 'object', 'predicate', 'recorded_version', 'surest', 'tokenizer',
    'validity_scope'
  ] AS name
  CALL db.createProperty(name)
}
