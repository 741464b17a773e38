"""``hmxgraph browser``: Neo4j Browser on the memory's graph."""

import webbrowser
from http.client import HTTPConnection, HTTPException
from typing import Annotated, NamedTuple
from urllib.parse import urlsplit

import typer
from rich.table import Table

from hmxgraph import engine
from hmxgraph.cli.common import AsJson, emit, err, out

Uri = Annotated[str | None, typer.Option("--uri", envvar="HMXGRAPH_URI", help="A Neo4j of your own.")]
User = Annotated[str, typer.Option("--user", envvar="HMXGRAPH_USER", help="Its user.")]
Open = Annotated[bool, typer.Option("--open/--no-open", help="Open it, where a terminal is attached.")]


class Access(NamedTuple):
    """What it takes to look at the graph; None where hmxgraph does not know."""

    browser_uri: str | None
    uri: str
    user: str
    password: str | None


def browser(uri: Uri = None, user: User = "neo4j", open_it: Open = True, as_json: AsJson = False) -> None:
    """Print where Neo4j Browser is and how to log in, and open it."""
    access = remote(uri, user) if uri else local()
    emit(access._asdict(), as_json, lambda: out.print(_table(access)))
    if open_it and not as_json and out.is_terminal and access.browser_uri is not None:
        webbrowser.open(access.browser_uri)


def local() -> Access:
    """The local server's Browser, after starting the server if need be."""
    server = engine.ensure(progress=err.is_terminal)
    return Access(server.browser_uri, server.uri, server.user, server.password)


def remote(uri: str, user: str) -> Access:
    """What can be known of another server; its password stays where the user keeps it."""
    return Access(find_browser(urlsplit(uri).hostname), uri, user, None)


def find_browser(host: str | None, port: int = 7474) -> str | None:
    """The Browser's address, if *host* answers with it on Neo4j's usual port."""
    if host is None:
        return None
    connection = HTTPConnection(host, port, timeout=2)
    try:
        connection.request("GET", "/browser/")
        found = connection.getresponse().status == 200
    except (OSError, HTTPException):
        return None
    finally:
        connection.close()
    return f"http://{host}:{port}/browser/" if found else None


def _table(access: Access) -> Table:
    table = Table(show_header=False, box=None)
    table.add_row("Browser", access.browser_uri or "not found on port 7474; ask whoever runs that server")
    table.add_row("connect to", access.uri)
    table.add_row("user", access.user)
    table.add_row("password", access.password or "yours (HMXGRAPH_PASSWORD)")
    return table
