"""What six rooms need to know about text: terms, tokens, likeness, and what must be masked. Pure."""
