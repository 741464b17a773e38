// Session summaries leave out calls that the user did not allow. The next compile rebuilds summaries of another
// version, so nothing is done here; an older release is refused.
//
// mode: write
// row:  -
