"""``hmxgraph browser``: Neo4j Browser on the memory's graph."""

import webbrowser
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Annotated, NamedTuple
from urllib.parse import quote, urlsplit

import typer
from rich.table import Table

from hmxgraph import engine
from hmxgraph.cli.favourites import STARTING_VALUES, favourites
from hmxgraph.cli.terminal.common import AsJson, Tenant, emit, err, out
from hmxgraph.errors import NotWritten
from hmxgraph.graph.catalogue import companion
from hmxgraph.graph.drivers import check
from hmxgraph.knowledge import connect

Uri = Annotated[str | None, typer.Option("--uri", envvar="HMXGRAPH_URI", help="A Neo4j of your own.")]
User = Annotated[str, typer.Option("--user", envvar="HMXGRAPH_USER", help="Its user.")]
Open = Annotated[bool, typer.Option("--open/--no-open", help="Open it, where a terminal is attached.")]
Save = Annotated[
    Path | None, typer.Option("--save", help="Write the style and the saved queries for Browser into this folder.")
]


class Access(NamedTuple):
    """What it takes to look at the graph; None where hmxgraph does not know."""

    browser_uri: str | None
    uri: str
    user: str
    password: str | None

    @property
    def login_uri(self) -> str:
        """The page with address and user filled in."""
        scheme, _, place = self.uri.partition("://")
        return f"{self.browser_uri}?dbms={quote(f'{scheme}://{self.user}@{place}', safe='')}"


def browser(
    uri: Uri = None,
    user: User = "neo4j",
    tenant: Tenant = "default",
    save: Save = None,
    open_it: Open = True,
    as_json: AsJson = False,
) -> None:
    """Print where Neo4j Browser is and how to log in, and open it."""
    access = remote(uri, user) if uri else local()
    saved = [str(path) for path in written(save, uri, user, tenant)] if save else []
    emit({**access._asdict(), "saved": saved}, as_json, lambda: out.print(_table(access, saved)))
    if open_it and not as_json and out.is_terminal and access.browser_uri is not None:
        webbrowser.open(access.login_uri)


def local() -> Access:
    """The local server's Browser, after starting the server if need be."""
    server = engine.ensure(progress=err.is_terminal)
    return Access(server.browser_uri, server.uri, server.user, server.password)


def remote(uri: str, user: str) -> Access:
    """What can be known of another server; its password stays where the user keeps it.

    Raises:
        InvalidAddress: no Neo4j can have that address.

    """
    check(uri)
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


def written(folder: Path, uri: str | None, user: str, tenant: str) -> tuple[Path, Path]:
    """The style file and the favourites, their parameters set to what *tenant* has, as files in *folder*.

    Raises:
        NotWritten: the folder cannot be made or written.

    """
    with connect(uri, user=user if uri else None, tenant_id=tenant) as graph:
        values = graph.query(STARTING_VALUES).rows[0]
    style, saved = folder / "hmxgraph.grass", folder / "hmxgraph-favourites.zip"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        style.write_text(companion("explore/browser.grass"), encoding="utf-8")
        saved.write_bytes(favourites(values))
    except OSError as error:
        raise NotWritten(str(folder), error.strerror or str(error)) from error
    return style, saved


def _table(access: Access, saved: list[str]) -> Table:
    table = Table(show_header=False, box=None)
    table.add_row("Browser", access.browser_uri or "not found on port 7474; ask whoever runs that server")
    table.add_row("connect to", access.uri)
    table.add_row("user", access.user)
    table.add_row("password", access.password or "yours (HMXGRAPH_PASSWORD)")
    for path in saved:
        table.add_row("drag onto it", path)
    return table
