// Session summaries mark work that the user asked to undo, name the scripts that interpreters run, and keep the relative
// folder of a command. The next compile rebuilds summaries of another version, so nothing is done here; an older release
// is refused.
//
// mode: write
// row:  -
