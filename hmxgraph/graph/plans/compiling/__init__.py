"""Compiling a tenant, and what its models suggest for a running session."""
