"""From bytes to rows: sources, checked events, the reorder window, and properties derived from events; no database."""
