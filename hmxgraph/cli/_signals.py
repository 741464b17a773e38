"""Ctrl-C and closed pipes."""

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

import typer

# Ctrl-C: one line and an exit code; while events are read, what was read is stored, and it is said.

# What a shell tells of a program that SIGINT ended.
INTERRUPTED = 130
_STDIN = 0


@contextmanager
def interruption_told() -> Iterator[None]:
    """End with a line where Ctrl-C ends the block, whether typer had a look at it or not."""
    try:
        yield
    except KeyboardInterrupt:
        _end("interrupted")
    except SystemExit as ended:
        # So does typer end a command, without a word.
        command = ended.__context__
        if isinstance(command, typer.Exit) and isinstance(command.__cause__, KeyboardInterrupt):
            _end("interrupted")
        raise


@contextmanager
def pipe_may_be_left(source: str) -> Iterator[None]:
    """Let Ctrl-C end standard input where that is the *source*, so that the block ends with what was read.

    A second one, and the first one with any other source, ends the block at once. Either ends the program.
    """
    left: list[int] = []

    def leave(number: int, _: FrameType | None) -> None:
        left.append(number)
        signal.signal(number, signal.default_int_handler)
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, _STDIN)
        os.close(nothing)

    before = signal.signal(signal.SIGINT, leave) if source == "-" else None
    try:
        yield
    except KeyboardInterrupt:
        _end("interrupted: not all that was read is stored; feed it in again: what is stored counts as duplicate")
    finally:
        if before is not None:
            signal.signal(signal.SIGINT, before)
    if left:
        _end("interrupted: what was read until then is stored")


def _end(told: str) -> None:
    from hmxgraph.cli._console import err  # noqa: PLC0415 - rarely needed, and rich takes a while to import

    err.print(told, style="yellow", highlight=False, soft_wrap=True)
    sys.exit(INTERRUPTED)


# A reader that has enough, such as ``head``, closes its end of the pipe; that is no error of ours.

# What a shell tells of a program that SIGPIPE ended: no success is claimed of what nobody read.
UNREAD = 141


@contextmanager
def reader_may_leave() -> Iterator[None]:
    """End as other programs do, without a word, where nobody reads any more what the block writes."""
    try:
        yield
    except BrokenPipeError:
        _write_to_nobody()
        sys.exit(UNREAD)
    except SystemExit as ended:
        # So do typer and rich end a program whose reader has gone.
        gone = isinstance(ended.__context__, BrokenPipeError)
        if gone or not _flushed():
            _write_to_nobody()
            sys.exit(UNREAD if gone or not ended.code else ended.code)
        raise


def _flushed() -> bool:
    """Whether what was written so far went out."""
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except BrokenPipeError:
        return False
    return True


def _write_to_nobody() -> None:
    """Let go nowhere what the interpreter still writes when it ends."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
