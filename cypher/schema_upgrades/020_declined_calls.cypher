// Summaries of sessions leave out calls that the user did not allow. The next compile rebuilds them by the version that
// each names, so nothing is done here; an older release is refused.
//
// mode: write
// row:  -
