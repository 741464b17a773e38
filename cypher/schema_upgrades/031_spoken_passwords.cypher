// Passwords in sentences ("pw Kurbel77") are masked in session summaries. The next compile rebuilds summaries of another
// version, and with them the playbooks that stated approvals as values, so nothing is done here; an older release is
// refused.
//
// mode: write
// row:  -
