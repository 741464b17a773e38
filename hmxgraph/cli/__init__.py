"""The command line: the same words as the Python API."""

import io
import logging
import sys
from typing import Annotated

import typer
from rich.text import Text

import hmxgraph
from hmxgraph.cli import (
    artifact,
    browser,
    compiling,
    demo,
    explore,
    fingerprint,
    ingest,
    memory,
    pack,
    record,
    server,
    task,
)
from hmxgraph.cli._signals import interruption_told, reader_may_leave
from hmxgraph.cli._terminal import err
from hmxgraph.errors import HmxGraphError, InvalidTenant, InvalidTime, PackError, StatementMisuse

# A value that a command was given is refused: nothing was tried that could fail.
WRONG_USAGE = (PackError, InvalidTime, InvalidTenant, StatementMisuse)

app = typer.Typer(
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="A memory engine for agents on Neo4j: events in, evidence-backed knowledge out.",
)


def _tell_version(asked: bool) -> None:
    if asked:
        typer.echo(hmxgraph.__version__)
        raise typer.Exit


@app.callback()
def program(
    version: Annotated[
        bool, typer.Option("--version", callback=_tell_version, is_eager=True, help="Print the version and end.")
    ] = False,
) -> None:
    """Everything is done by the commands."""


app.command("demo")(demo.demo)
app.command("ingest")(ingest.ingest)
app.command("remember")(ingest.remember)
app.command("compile")(compiling.compile_events)
app.command("suggest")(compiling.suggest)
app.command("pack")(pack.pack)
app.command("digest")(explore.digest)
app.command("query")(explore.query)
app.command("explain")(explore.explain)
app.command("forget")(ingest.forget)
app.command("verify")(explore.verify)
app.command("health")(explore.health)
app.command("schema")(explore.schema)
app.command("browser")(browser.browser)
app.add_typer(artifact.app, name="artifact")
app.add_typer(artifact.conflict_app, name="conflict")
app.add_typer(fingerprint.app, name="fingerprint")
app.add_typer(task.app, name="task")
app.add_typer(record.app, name="record")
app.add_typer(memory.app, name="memory")
app.add_typer(server.app, name="server")


def main() -> None:
    """Run the command line: exit code 0 ok, 1 failed with one clear line, 2 wrong usage."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # Memory holds any character, a terminal may know fewer.
            stream.reconfigure(errors="backslashreplace")
    # What the driver has to tell is in the one line of the error.
    logging.getLogger("neo4j").addHandler(logging.NullHandler())
    try:
        with reader_may_leave(), interruption_told():
            app()
    except (HmxGraphError, OSError) as error:
        err.print(Text.assemble(("error: ", "bold red"), str(error)), soft_wrap=True)
        sys.exit(2 if isinstance(error, WRONG_USAGE) else 1)
