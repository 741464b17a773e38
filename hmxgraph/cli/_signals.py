"""End the program on Ctrl-C or a closed pipe with an exit code and at most one line of output."""

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

import typer

# Ctrl-C ends the program with one line and exit code 130. If standard input is being ingested, the events read so far
# are stored first.

# The exit status that shells report for a program ended by SIGINT.
INTERRUPTED = 130
_STDIN = 0


@contextmanager
def exit_on_interrupt() -> Iterator[None]:
    """Exit with one line if Ctrl-C interrupts the block, even if typer catches the exception first."""
    try:
        yield
    except KeyboardInterrupt:
        _exit("interrupted")
    except SystemExit as exit_request:
        # typer turns Ctrl-C into a silent exit.
        cause = exit_request.__context__
        if isinstance(cause, typer.Exit) and isinstance(cause.__cause__, KeyboardInterrupt):
            _exit("interrupted")
        raise


@contextmanager
def interruptible_input(source: str) -> Iterator[None]:
    """If *source* is standard input (``-``), let Ctrl-C only end the input, so that the block stores what it has read.

    A second Ctrl-C, or the first one with any other *source*, interrupts the block at once. In all cases, the program
    exits afterwards.
    """
    signals: list[int] = []

    def close_input(number: int, _: FrameType | None) -> None:
        signals.append(number)
        signal.signal(number, signal.default_int_handler)
        null_device = os.open(os.devnull, os.O_RDONLY)
        os.dup2(null_device, _STDIN)
        os.close(null_device)

    previous = signal.signal(signal.SIGINT, close_input) if source == "-" else None
    try:
        yield
    except KeyboardInterrupt:
        _exit("interrupted before everything was stored; run it again: stored events are reported as duplicates")
    finally:
        if previous is not None:
            signal.signal(signal.SIGINT, previous)
    if signals:
        _exit("interrupted: everything read so far is stored")


def _exit(message: str) -> None:
    from hmxgraph.cli._console import err  # noqa: PLC0415 - rarely needed, and rich is slow to import

    err.print(message, style="yellow", highlight=False, soft_wrap=True)
    sys.exit(INTERRUPTED)


# Programs such as ``head`` close the pipe when they have read enough. That is not an error.

# The exit status that shells report for a program ended by SIGPIPE.
PIPE_CLOSED = 141


@contextmanager
def exit_on_broken_pipe() -> Iterator[None]:
    """Exit silently, as other programs do, if the reader of the block's output closes the pipe."""
    try:
        yield
    except BrokenPipeError:
        _discard_output()
        sys.exit(PIPE_CLOSED)
    except SystemExit as exit_request:
        # Typer and rich turn a BrokenPipeError into a SystemExit.
        broken_pipe = isinstance(exit_request.__context__, BrokenPipeError)
        if broken_pipe or not _flushed():
            _discard_output()
            sys.exit(PIPE_CLOSED if broken_pipe or not exit_request.code else exit_request.code)
        raise


def _flushed() -> bool:
    """Flush standard output, and return whether that succeeded."""
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except BrokenPipeError:
        return False
    return True


def _discard_output() -> None:
    """Redirect standard output to the null device, because the interpreter flushes it on exit."""
    null_device = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null_device, sys.stdout.fileno())
    os.close(null_device)
