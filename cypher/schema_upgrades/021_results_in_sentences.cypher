// Session summaries hold the content of results sentence by sentence. The next compile rebuilds summaries of another
// version, so nothing is done here; an older release is refused.
//
// mode: write
// row:  -
