// One CompilerModel node per key. Community knows no other constraint than uniqueness.
//
// mode: schema
// row:  -
CREATE CONSTRAINT compiler_model_key IF NOT EXISTS
FOR (n:CompilerModel) REQUIRE n.key IS UNIQUE
