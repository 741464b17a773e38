"""Text processing shared by the other packages, such as search terms, token counts, excerpts and masking."""
