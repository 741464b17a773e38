"""``hmxgraph browser``: Neo4j Browser on the memory's graph, with style and favourites."""

import io
import webbrowser
import zipfile
from collections.abc import Mapping
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Annotated, Any, NamedTuple
from urllib.parse import quote, urlsplit

import orjson
import typer
from rich.table import Table

from hmxgraph import engine
from hmxgraph.api.graph import connect
from hmxgraph.cli._terminal import AsJson, Tenant, emit, err, out
from hmxgraph.errors import NotWritten
from hmxgraph.graph.driver import check
from hmxgraph.graph.plan import companion, query, query_names

# The saved queries as favourites of Neo4j Browser, which takes them as a zip that is dragged onto its window.

FOLDER = "hmxgraph"
_STARTING_VALUES = "explore/parameters"
_FIRST_DAY = (1980, 1, 1, 0, 0, 0)


def favourites(values: Mapping[str, Any]) -> bytes:
    """A zip of the saved queries as they are packaged, after one that sets *values* as their parameters.

    Queries that need what nobody types by hand, such as an embedding, stay out. The same queries and values give the
    same bytes.
    """
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        archive.writestr(_member("00_parameters"), parameters(values))
        for name in query_names("explore"):
            if name != _STARTING_VALUES and query(name).parameters <= values.keys():
                archive.writestr(_member(name.removeprefix("explore/")), query(name).text)
    return target.getvalue()


def parameters(values: Mapping[str, Any]) -> str:
    """The command of Neo4j Browser that sets *values*, as a favourite.

    >>> print(parameters({"tenant_id": "demo"}))
    // 0. Parameters: run this first, change what you look for
    :params {"tenant_id":"demo"}

    """
    given = orjson.dumps(dict(values)).decode()
    return f"// 0. Parameters: run this first, change what you look for\n:params {given}"


def _member(name: str) -> zipfile.ZipInfo:
    return zipfile.ZipInfo(f"{FOLDER}/{name}.cypher", _FIRST_DAY)


# ``hmxgraph browser``: Neo4j Browser on the memory's graph.

_Uri = Annotated[str | None, typer.Option("--uri", envvar="HMXGRAPH_URI", help="A Neo4j of your own.")]
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
    uri: _Uri = None,
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
        values = graph.query(_STARTING_VALUES).rows[0]
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
