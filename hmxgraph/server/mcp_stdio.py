"""MCP over standard input and output: a single client, whose tenant and agent the command line sets."""

from time import time_ns

from hmxgraph.api.graph import KnowledgeGraph
from hmxgraph.protocol.access import SCOPES, ApiKey
from hmxgraph.server.mcp_tools import authorized, memory_server


def run(graph: KnowledgeGraph, agent_id: str) -> None:
    """Serve *graph* on behalf of *agent_id* until standard input ends."""
    key = ApiKey("stdio", graph.tenant_id, SCOPES, label="", agent_id=agent_id, created_us=time_ns() // 1_000)
    memory_server(lambda _ctx, scope: authorized(graph, key, scope)).run("stdio")
