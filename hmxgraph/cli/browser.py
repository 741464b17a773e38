"""The command ``hmxgraph browser``: open Neo4j Browser, with a style and saved queries for the memory graph."""

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
from hmxgraph.cli._terminal import AsJson, Tenant, emit, out
from hmxgraph.errors import NotWritten
from hmxgraph.graph.driver import check
from hmxgraph.graph.plan import query, query_names

# Favourites are the saved queries of Neo4j Browser. It imports them from a zip file that is dragged into its window.

FOLDER = "hmxgraph"
# The saved query that returns example values, from the tenant's data, for the parameters of the other queries.
_STARTING_VALUES = "explore/parameters"
# The date of all files in the zip. It is constant, so that the same queries give the same bytes; a zip has no earlier
# one.
_FIRST_DAY = (1980, 1, 1, 0, 0, 0)


def favourites(values: Mapping[str, Any]) -> bytes:
    """A zip of the saved queries, and of two commands that set their parameters to *values* and load the style.

    The command for the style is needed only for servers that hmxgraph did not start. Queries with a parameter that is
    not in *values*, such as an embedding, are left out. The same queries and values always give the same bytes.
    """
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        archive.writestr(_member("00_parameters"), parameters(values))
        archive.writestr(_member("01_style"), f"// 0. Style: colours and captions\n:{engine.style_command()}")
        for name in query_names("explore"):
            if name != _STARTING_VALUES and query(name).parameters <= values.keys():
                archive.writestr(_member(name.removeprefix("explore/")), query(name).text)
    return target.getvalue()


def parameters(values: Mapping[str, Any]) -> str:
    """A favourite with the command of Neo4j Browser that sets parameters to *values*.

    >>> print(parameters({"tenant_id": "demo"}))
    // 0. Parameters: run this first, then change the values
    :params {"tenant_id":"demo"}

    """
    return f"// 0. Parameters: run this first, then change the values\n:params {orjson.dumps(dict(values)).decode()}"


def _member(name: str) -> zipfile.ZipInfo:
    return zipfile.ZipInfo(f"{FOLDER}/{name}.cypher", _FIRST_DAY)


# The command.

_Uri = Annotated[str | None, typer.Option("--uri", envvar="HMXGRAPH_URI", help="Address of your own Neo4j.")]
User = Annotated[str, typer.Option("--user", envvar="HMXGRAPH_USER", help="User name for --uri.")]
Open = Annotated[bool, typer.Option("--open/--no-open", help="Open Browser, if run in a terminal.")]
Save = Annotated[
    Path | None,
    typer.Option("--save", help="Write the saved queries to a folder, as a zip to drag into Browser."),
]


class Access(NamedTuple):
    """The addresses and the login of a server; None for what hmxgraph does not know."""

    browser_uri: str | None
    uri: str
    user: str
    password: str | None

    @property
    def login_uri(self) -> str:
        """The URL of Neo4j Browser's login page, with address and user filled in."""
        scheme, _, host = self.uri.partition("://")
        return f"{self.browser_uri}?dbms={quote(f'{scheme}://{self.user}@{host}', safe='')}"


def browser(
    uri: _Uri = None,
    user: User = "neo4j",
    tenant: Tenant = "default",
    save: Save = None,
    open_it: Open = True,
    as_json: AsJson = False,
) -> None:
    """Print the address and login of Neo4j Browser, and open it."""
    access = remote_access(uri, user) if uri else local_access()
    saved = str(write_favourites(save, uri, user, tenant)) if save else None
    emit({**access._asdict(), "saved": saved}, as_json, lambda: out.print(_table(access, saved)))
    if open_it and not as_json and out.is_terminal and access.browser_uri is not None:
        webbrowser.open(access.login_uri)


def local_access() -> Access:
    """Access to the local server, which is started if it is not running."""
    server = engine.ensure(progress=True)
    return Access(server.browser_uri, server.uri, server.user, server.password)


def remote_access(uri: str, user: str) -> Access:
    """Access to a server other than the local one, without its password.

    Raises:
        InvalidAddress: *uri* cannot be a Neo4j address.

    """
    check(uri)
    return Access(find_browser(urlsplit(uri).hostname), uri, user, None)


def find_browser(host: str | None, port: int = 7474) -> str | None:
    """The address of Neo4j Browser, or None if *host* does not serve it on *port*."""
    if host is None:
        return None
    connection = HTTPConnection(host, port, timeout=2)
    try:
        connection.request("GET", "/browser/")
        served = connection.getresponse().status == 200
    except (OSError, HTTPException):
        return None
    finally:
        connection.close()
    return f"http://{host}:{port}/browser/" if served else None


def write_favourites(folder: Path, uri: str | None, user: str, tenant: str) -> Path:
    """Write the favourites into *folder*, with parameters taken from *tenant*'s data.

    Raises:
        NotWritten: the folder cannot be created or written.

    """
    with connect(uri, user=user if uri else None, tenant_id=tenant) as graph:
        values = graph.query(_STARTING_VALUES).rows[0]
    saved = folder / "hmxgraph-favourites.zip"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        saved.write_bytes(favourites(values))
    except OSError as error:
        raise NotWritten(str(folder), error.strerror or str(error)) from error
    return saved


def _table(access: Access, saved: str | None) -> Table:
    table = Table(show_header=False, box=None)
    table.add_row("Browser", access.browser_uri or "not found on port 7474; ask the server's administrator")
    table.add_row("connect to", access.uri)
    table.add_row("user", access.user)
    table.add_row("password", access.password or "yours (HMXGRAPH_PASSWORD)")
    if saved is not None:
        table.add_row("drag into Browser", saved)
    return table
