"""The command line: the same words as the Python API."""

import io
import logging
import sys
from typing import Annotated

import typer

import hmxgraph
from hmxgraph.cli._commands import LazyGroup
from hmxgraph.cli._signals import interruption_told, reader_may_leave
from hmxgraph.errors import HmxGraphError, InvalidTenant, InvalidTime, PackError, StatementMisuse

# A value that a command was given is refused: nothing was tried that could fail.
WRONG_USAGE = (PackError, InvalidTime, InvalidTenant, StatementMisuse)

app = typer.Typer(
    cls=LazyGroup,
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
        from rich.text import Text  # noqa: PLC0415 - only an error needs the console

        from hmxgraph.cli._console import err  # noqa: PLC0415 - as above

        err.print(Text.assemble(("error: ", "bold red"), str(error)), soft_wrap=True)
        sys.exit(2 if isinstance(error, WRONG_USAGE) else 1)
