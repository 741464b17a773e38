"""Text processing shared by the other packages: terms, tokens, similarity, excerpts, lines, masking. Pure."""
