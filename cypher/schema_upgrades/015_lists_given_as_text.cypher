// Session summaries state the origin of the parts of a list, also of a list given as text. The next compile rebuilds
// summaries of another version, so nothing is done here; an older release would rebuild them in its own form, and is
// refused.
//
// mode: write
// row:  -
