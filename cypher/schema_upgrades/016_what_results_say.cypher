// Session summaries state what each step was about and what lookups returned in short lines. The next compile rebuilds
// summaries of another version, so nothing is done here; an older release would rebuild them in its own form, and is
// refused.
//
// mode: write
// row:  -
