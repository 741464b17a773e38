"""The memory over HTTP and MCP: the contract of the Hippocortex SDK, API keys, limits, metrics.

Needs the extra ``server`` (and ``mcp`` for MCP); nothing else in the package imports it, but the command line.
"""
