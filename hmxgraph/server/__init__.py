"""Serve the memory over HTTP and MCP: the API that the Hippocortex SDK calls, with API keys, limits and metrics.

This needs the extra ``server``, and ``mcp`` for MCP (Model Context Protocol). Within the package, only the command line
imports it.
"""
