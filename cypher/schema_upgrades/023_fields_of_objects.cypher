// Session summaries name the fields of objects that a call passes ("flight_number in flights"). The next compile
// rebuilds summaries of another version, so nothing is done here; an older release is refused.
//
// mode: write
// row:  -
