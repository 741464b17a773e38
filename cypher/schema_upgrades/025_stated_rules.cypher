// Session summaries hold the rules that agents told users. The next compile rebuilds summaries of another version, so
// nothing is done here; an older release is refused.
//
// mode: write
// row:  -
