// Give sessions the first 200 characters of their id, which the next step indexes.
//
// mode: write
// row:  -
MATCH (session:Session)
SET session.id_start = left(session.session_id, 200);
