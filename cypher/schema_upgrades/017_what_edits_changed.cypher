// Session summaries name every source of a value and what an edit changed. The next compile rebuilds summaries of
// another version, so nothing is done here; an older release would rebuild them in its own form, and is refused.
//
// mode: write
// row:  -
