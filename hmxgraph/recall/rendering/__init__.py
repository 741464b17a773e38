"""A pack as people and prompts get it: text, table, page."""
