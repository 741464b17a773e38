// Summaries of sessions hold what results say sentence by sentence. The next compile rebuilds them by the version that
// each names, so nothing is done here; an older release is refused.
//
// mode: write
// row:  -
