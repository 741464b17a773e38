// Summaries of sessions count a result that opens with an error as a failure. The next compile rebuilds them by the
// version that each names, so nothing is done here; an older release would rebuild them in its own form, and is refused.
//
// mode: write
// row:  -
