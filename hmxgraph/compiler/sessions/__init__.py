"""From the events of a session to its summary: what was done, how it went, what failed. No event is kept."""
