// Session summaries recognise identifiers, files and edits by names in camel case, such as orderId. The next compile
// rebuilds summaries of another version, so nothing is done here; an older release is refused.
//
// mode: write
// row:  -
