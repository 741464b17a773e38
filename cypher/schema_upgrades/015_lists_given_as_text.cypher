// Summaries of sessions say where the parts of a list came from, also of a list given as text. The next compile makes
// them anew; a release before this one would make the old ones again, and is refused.
//
// mode: write
// row:  -
MATCH (session:Session)
WHERE session.summary_version IS NOT NULL
SET session.summary_version = null;
