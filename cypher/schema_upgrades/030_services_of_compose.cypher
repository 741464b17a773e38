// Session summaries name docker commands without the services and containers that they are for: "docker compose up",
// "docker start". Tokens in them are masked as a whole. The next compile rebuilds summaries of another version, so nothing
// is done here; an older release is refused.
//
// mode: write
// row:  -
