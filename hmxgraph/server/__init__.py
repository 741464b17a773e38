"""The memory over HTTP and MCP: the API that the Hippocortex SDK calls, API keys, limits, metrics.

Needs the extra ``server`` (and ``mcp`` for MCP); in the package, only the command line imports it.
"""
