"""The commands ``hmxgraph server``: start, stop and inspect the local Neo4j of a data home."""

import os
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from hmxgraph import engine
from hmxgraph.adapters import warm
from hmxgraph.cli._terminal import AsJson, emit, out
from hmxgraph.engine.server import Status

app = typer.Typer(no_args_is_help=True, help="The local Neo4j that hmxgraph starts on demand.")

Home = Annotated[Path | None, typer.Option("--home", envvar="HMXGRAPH_HOME", help="Data home of the server.")]


@app.command()
def start(home: Home = None, as_json: AsJson = False) -> None:
    """Start the local server, downloading it first if needed; does nothing if it is running.

    A background process then makes the server plan the statements of a pack, and answers later commands faster. It
    ends when the server stops, or after an hour without a command.
    """
    was_running = engine.runs(home)
    engine.ensure(home, progress=True)
    if not was_running and _commands_use(home) and warm.ask({}) is None:
        warm.start({})
    _show(engine.status(home), as_json)


@app.command()
def stop(home: Home = None, as_json: AsJson = False) -> None:
    """Stop the local server and wait until it has exited; its data is kept."""
    stopped = engine.stop(home)
    emit({"stopped": stopped}, as_json, lambda: out.print("stopped" if stopped else "no local server was running"))


@app.command()
def status(home: Home = None, as_json: AsJson = False) -> None:
    """Show whether the local server is running, its address and its memory use."""
    _show(engine.status(home), as_json)


@app.command()
def logs(
    home: Home = None,
    lines: Annotated[int, typer.Option("--lines", "-n", min=1, help="Number of lines.")] = 50,
    as_json: AsJson = False,
) -> None:
    """Print the end of the local server's log."""
    text = engine.logs(home, lines)
    emit({"lines": text.splitlines()}, as_json, lambda: out.print(text, highlight=False))


def _commands_use(home: Path | None) -> bool:
    """Whether the environment lets commands that have no ``--home`` use the server of *home*."""
    configured_home = os.environ.get("HMXGRAPH_HOME")
    return not os.environ.get("HMXGRAPH_URI") and (
        home is None or (configured_home is not None and home == Path(configured_home))
    )


def _show(state: Status, as_json: bool) -> None:
    emit(state.document(), as_json, lambda: out.print(_table(state)))


def _table(state: Status) -> Table:
    rows = {"state": state.state, "home": str(state.home)}
    if state.pid is not None:
        rows |= {"process": str(state.pid), "memory": f"{state.resident_bytes / 1e6:.0f} MB"}
        rows |= {"up": f"{state.uptime_seconds} s"}
    if state.server is not None:
        rows |= {"version": state.server.version, "uri": state.server.uri, "browser": state.server.browser_uri}
    table = Table(show_header=False, box=None)
    for name, value in rows.items():
        table.add_row(name, value)
    return table
