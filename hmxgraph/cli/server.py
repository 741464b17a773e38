"""``hmxgraph server``: the local Neo4j of a data home."""

from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from hmxgraph import engine
from hmxgraph.cli._terminal import AsJson, emit, err, out
from hmxgraph.engine.server import Status

app = typer.Typer(no_args_is_help=True, help="The local Neo4j that hmxgraph starts on demand.")

Home = Annotated[Path | None, typer.Option("--home", envvar="HMXGRAPH_HOME", help="Data home of the server.")]


@app.command()
def start(home: Home = None, as_json: AsJson = False) -> None:
    """Start the local server (fetching it at first) unless it runs already."""
    engine.ensure(home, progress=err.is_terminal)
    _show(engine.status(home), as_json)


@app.command()
def stop(home: Home = None, as_json: AsJson = False) -> None:
    """Stop the local server and wait until it is gone; its data stay."""
    stopped = engine.stop(home)
    emit({"stopped": stopped}, as_json, lambda: out.print("stopped" if stopped else "no local server was running"))


@app.command()
def status(home: Home = None, as_json: AsJson = False) -> None:
    """Whether the local server runs, where, and with how much memory."""
    _show(engine.status(home), as_json)


@app.command()
def logs(
    home: Home = None,
    lines: Annotated[int, typer.Option("--lines", "-n", min=1, help="How many of the last lines.")] = 50,
    as_json: AsJson = False,
) -> None:
    """The last words of the local server."""
    text = engine.logs(home, lines)
    emit({"lines": text.splitlines()}, as_json, lambda: out.print(text, highlight=False))


def _show(found: Status, as_json: bool) -> None:
    emit(found.document(), as_json, lambda: out.print(_table(found)))


def _table(found: Status) -> Table:
    rows = {"state": found.state, "home": str(found.home)}
    if found.pid is not None:
        rows |= {"process": str(found.pid), "memory": f"{found.resident_bytes / 1e6:.0f} MB"}
        rows |= {"up": f"{found.uptime_seconds} s"}
    if found.server is not None:
        rows |= {"version": found.server.version, "uri": found.server.uri, "browser": found.server.browser_uri}
    table = Table(show_header=False, box=None)
    for name, value in rows.items():
        table.add_row(name, value)
    return table
