"""The command ``hmxgraph mcp``: an MCP server over standard input and output, or the configuration of its clients."""

from typing import Annotated, Any

import orjson
import typer

from hmxgraph.cli._extras import need
from hmxgraph.cli._terminal import Tenant, opened, out
from hmxgraph.cli.install import program

CLIENTS = ("claude-code", "cursor", "vscode")
# How the API key is referred to in the configuration of each client, so that the file does not contain it.
_SECRETS = {
    "claude-code": "${HMXGRAPH_KEY}",
    "cursor": "${env:HMXGRAPH_KEY}",
    "vscode": "${input:hmxgraph-key}",
}
# The file from which each client reads its configuration.
_FILES = {"claude-code": ".mcp.json", "cursor": ".cursor/mcp.json", "vscode": ".vscode/mcp.json"}

Agent = Annotated[str, typer.Option("--agent", envvar="HMXGRAPH_AGENT", help="Agent recorded as the author of writes.")]
User = Annotated[str | None, typer.Option("--user", help="User whose personal rules and preferences apply.")]
Client = Annotated[
    str | None, typer.Option("--print-config", help=f"Print the configuration for a client: {', '.join(CLIENTS)}.")
]
Url = Annotated[str | None, typer.Option("--url", help="With --print-config: the /mcp address of a server to use.")]


def mcp(
    tenant: Tenant = "default",
    agent: Agent = "assistant",
    user: User = None,
    print_config: Client = None,
    url: Url = None,
) -> None:
    """Serve the memory to one MCP client over standard input and output."""
    if print_config is not None:
        if print_config not in CLIENTS:
            raise typer.BadParameter(f"--print-config {print_config}: choose one of {', '.join(CLIENTS)}")
        if url is not None and user is not None:
            raise typer.BadParameter("--user goes with a process of one user's own, not with --url")
        document = configuration(print_config, tenant, agent, url, user)
        typer.echo(orjson.dumps(document, option=orjson.OPT_INDENT_2).decode())
        if out.is_terminal:
            typer.echo(f"paste it into {_FILES[print_config]}", err=True)
        return
    if url is not None:
        raise typer.BadParameter("--url goes with --print-config; set HMXGRAPH_URI to serve another store")
    need("mcp", "mcp")
    need("mcp", "mcp.server.mcpserver")  # mcp 1.x lacks this module
    from hmxgraph.server.mcp_stdio import run  # noqa: PLC0415 - needs the extra

    with opened(tenant) as graph:
        run(graph, agent, user)


def configuration(
    client: str, tenant: str, agent: str, url: str | None = None, user: str | None = None
) -> dict[str, Any]:
    """The configuration with which a client starts this server itself or, with *url*, uses the server at that address.

    A server at *url* needs an API key. The command is a full path, because clients start programs outside of virtual
    environments.

    >>> configuration("cursor", "acme", "ana")["mcpServers"]["hmxgraph"]["args"][-5:]
    ['mcp', '--tenant', 'acme', '--agent', 'ana']
    """
    if url is None:
        command, *words = program()
        options = ["--tenant", tenant, "--agent", agent, *(["--user", user] if user else [])]
        server: dict[str, Any] = {"command": command, "args": [*words, "mcp", *options]}
        server = {"type": "stdio", **server} if client == "vscode" else server
    else:
        server = {"url": url, "headers": {"Authorization": f"Bearer {_SECRETS[client]}"}}
        server = server if client == "cursor" else {"type": "http", **server}
    if client != "vscode":
        return {"mcpServers": {"hmxgraph": server}}
    key_input = {"type": "promptString", "id": "hmxgraph-key", "description": "API key of hmxgraph", "password": True}
    return {"servers": {"hmxgraph": server}} | ({"inputs": [key_input]} if url else {})
