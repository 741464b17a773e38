// Session summaries count a result that opens with an error as a failure.
//
// This step changes no data: it raises the version of the schema, so that older releases, which would write summaries
// in their own form, are refused. The next compile rebuilds the summaries.
//
// mode: write
// row:  -
