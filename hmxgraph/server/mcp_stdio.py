"""MCP over standard input and output: one client, whose tenant and agent the command line names."""

from time import time_ns

from hmxgraph.api.graph import KnowledgeGraph
from hmxgraph.protocol.access import SCOPES, ApiKey
from hmxgraph.server.mcp_tools import memory_server, seated


def run(graph: KnowledgeGraph, agent_id: str) -> None:
    """Serve *graph* in the name of *agent_id* until standard input ends."""
    key = ApiKey("stdio", graph.tenant_id, SCOPES, "", agent_id, time_ns() // 1_000)
    memory_server(lambda _ctx, scope: seated(graph, key, scope)).run("stdio")
