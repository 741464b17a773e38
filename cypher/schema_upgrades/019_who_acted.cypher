// Summaries of sessions say which steps the user took, and where the values inside of objects come from. The next compile
// rebuilds them by the version that each names, so nothing is done here; an older release is refused.
//
// mode: write
// row:  -
