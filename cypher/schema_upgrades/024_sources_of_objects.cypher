// Session summaries name the sources of each identifier in a list of objects that a call passes. The next compile
// rebuilds summaries of another version, so nothing is done here; an older release is refused.
//
// mode: write
// row:  -
