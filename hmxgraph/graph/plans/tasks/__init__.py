"""Task records and semantic memories: written, searched, digested, looked after (memd)."""
