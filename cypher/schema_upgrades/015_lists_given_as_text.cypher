// Summaries of sessions say where the parts of a list came from, also of a list given as text. The next compile rebuilds
// them by the version that each names, so nothing is done here; an older release would rebuild them in its own form, and
// is refused.
//
// mode: write
// row:  -
