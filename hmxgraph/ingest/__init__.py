"""From bytes to rows: sources, strict events, the reorder window, and what the engine adds to each event. Pure."""
