// Session summaries state which steps the user took, and where the values inside objects come from. The next compile
// rebuilds summaries of another version, so nothing is done here; an older release is refused.
//
// mode: write
// row:  -
