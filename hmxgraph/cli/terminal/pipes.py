"""A reader that has enough, such as ``head``, closes its end of the pipe; that is no error of ours."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

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
