// Summaries of sessions name every source of a value and what an edit changed. The next compile rebuilds them by the
// version that each names, so nothing is done here; an older release would rebuild them in its own form, and is refused.
//
// mode: write
// row:  -
