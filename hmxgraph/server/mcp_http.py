"""MCP (Model Context Protocol) over streamable HTTP, as a route of the server, protected by its API keys."""

from typing import Any

from mcp.server.transport_security import TransportSecuritySettings

from hmxgraph.server.app import Mount, exchange_of
from hmxgraph.server.mcp_tools import Caller, Ctx, authorized, memory_server
from hmxgraph.server.operations import Shared

PATH = "/mcp"
_MOST_BODY_BYTES = 4 << 20


def mcp_mount(shared: Shared) -> Mount:
    """The MCP route, and the session manager that must run while it is served.

    Requests are stateless, so that several server processes can answer one client. Protection against DNS rebinding is
    off: it would need a list of the server's host names, and a malicious web page has no API key anyway.
    """

    def caller_of(ctx: Ctx, scope: str) -> Caller:
        request: Any = ctx.request_context.request
        exchange = exchange_of(request)
        exchange.route = PATH
        assert exchange.key is not None, "the edge admits no request without a key"
        return authorized(shared.tenants.graph(exchange.key.tenant_id), exchange.key, scope)

    server = memory_server(caller_of)
    app = server.streamable_http_app(
        streamable_http_path=PATH,
        stateless_http=True,
        json_response=True,
        max_request_body_size=_MOST_BODY_BYTES,
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
    )
    return Mount(list(app.routes), server.session_manager.run)
