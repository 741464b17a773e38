// Session summaries state the origin of each item of a list argument, also if the list was given as text.
//
// This step changes no data: it raises the version of the schema, so that older releases, which would write summaries
// in their own form, are refused. The next compile rebuilds the summaries.
//
// mode: write
// row:  -
