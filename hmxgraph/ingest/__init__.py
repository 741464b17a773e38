"""From bytes to rows: sources, strict events, the reorder window, and properties derived from events; no database."""
