// Summaries of sessions say what each step was about and what lookups returned in short lines. The next compile rebuilds
// them by the version that each names, so nothing is done here; an older release would rebuild them in its own form, and
// is refused.
//
// mode: write
// row:  -
