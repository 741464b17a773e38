"""Task records and semantic memories as nodes, views and results (memd)."""
