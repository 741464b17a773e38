"""The command line; most commands have the name of the Python method that they call.

This module has the program itself and its errors. The commands are listed in ``_commands``.
"""

import errno
import io
import logging
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

import hmxgraph
from hmxgraph.cli._commands import LazyGroup
from hmxgraph.cli._signals import exit_on_broken_pipe, exit_on_interrupt
from hmxgraph.errors import HmxGraphError, InvalidTenant, InvalidTime, PackError, StatementMisuse

# Errors of invalid arguments, for which the program exits with code 2; for all others, with code 1.
WRONG_USAGE = (PackError, InvalidTime, InvalidTenant, StatementMisuse)
# Hints in the errors of the Python API, and the equivalent hints for users of the command line.
_COMMAND_LINE_HINTS = {
    "timeout=, --timeout": "--timeout",
    "run_id=...": "--run ID",
    "task_id=...": "--task ID",
    "reply_to_artifact_id=...": "--reply-to ID",
    "agent_id=...": "--agent NAME",
    "summary=...": "--summary TEXT",
    "lease=3600": "--lease 3600",
    "(run_start)": "(hmxgraph task run-start)",
    "(tasks.claim)": "(hmxgraph task claim)",
    "(tasks.list)": "(hmxgraph task list)",
    "(tasks.reopen)": "(hmxgraph task reopen)",
    "(tasks.start)": "(hmxgraph task start)",
    "give one to supersede()": "hmxgraph artifact supersede records one",
    "repair it, or connect without one": "repair it, or unset HMXGRAPH_EMBED",
    "connect with embed=, or set": "set",
}

app = typer.Typer(
    cls=LazyGroup,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="A memory engine for agents on Neo4j: events in, evidence-backed knowledge out.",
    epilog="New here? hmxgraph demo shows it on sample events; hmxgraph ingest PATH reads your own transcripts.",
)


def _print_version(requested: bool) -> None:
    if requested:
        typer.echo(hmxgraph.__version__)
        raise typer.Exit


@app.callback()
def program(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """The options of the program itself; each command has its own."""


def main() -> None:
    """Run the command line.

    Exit codes:

    - 0: success
    - 1: an error, a report that lists faults such as rejected lines, or a restore that the user declined
    - 2: wrong usage
    - 130, as in shells: interrupted by Ctrl-C
    - 141, as in shells: the reader of the output closed the pipe

    """
    _open_closed_streams()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # Stored texts may contain characters that the terminal's encoding lacks.
            stream.reconfigure(errors="backslashreplace")
    # Do not let the driver log its errors, because `one_line_errors` prints them.
    logging.getLogger("neo4j").addHandler(logging.NullHandler())
    with one_line_errors(), exit_on_broken_pipe(), exit_on_interrupt():
        app()


def _open_closed_streams() -> None:
    """Open the null device in place of each standard stream that the parent process closed."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open(mode, encoding="utf-8"))  # noqa: SIM115 - used until the end


@contextmanager
def one_line_errors() -> Iterator[None]:
    """If the block raises an HmxGraphError or OSError, print it without a traceback, and exit with code 1 or 2.

    The error is printed on one line, unless it quotes the server's log. The code is 2 for wrong usage.
    """
    try:
        yield
    except (HmxGraphError, OSError) as error:
        from rich.text import Text  # noqa: PLC0415 - only errors need the console

        from hmxgraph.cli._console import err  # noqa: PLC0415 - as above

        err.print(Text.assemble(("error: ", "bold red"), as_commands(_message(error))), soft_wrap=True)
        sys.exit(2 if isinstance(error, WRONG_USAGE) else 1)


def _message(error: HmxGraphError | OSError) -> str:
    """The message of *error*; for an OSError with a file name, the file and the reason.

    An OSError without a file name and with a code in `_UNWRITABLE` means that standard output cannot be written.

    >>> _message(FileNotFoundError(2, "No such file or directory", "runs.json"))
    'runs.json: No such file or directory'
    """
    if isinstance(error, OSError) and error.filename is not None and error.strerror:
        return f"{error.filename}: {error.strerror}"
    if not isinstance(error, HmxGraphError) and error.errno in _UNWRITABLE:
        return f"cannot write the output: {error.strerror}; what was stored before stays stored"
    return str(error)


# Codes of OSErrors about writing: no space left, quota exceeded, file too large, I/O error, closed descriptor.
_UNWRITABLE = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF}


def as_commands(message: str) -> str:
    """*message* with options and commands in place of arguments and methods of the Python API.

    >>> as_commands("2 runs are open; name it (run_id=...): a, b")
    '2 runs are open; name it (--run ID): a, b'
    >>> as_commands("task 't1' is finished (done): reopen it first (tasks.reopen)")
    "task 't1' is finished (done): reopen it first (hmxgraph task reopen)"

    """
    for api_hint, command_hint in _COMMAND_LINE_HINTS.items():
        message = message.replace(api_hint, command_hint)
    return message
