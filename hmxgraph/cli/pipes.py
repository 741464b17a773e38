"""A reader that has enough, such as ``head``, closes its end of the pipe; that is no error."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def reader_may_leave() -> Iterator[None]:
    """End well, and say nothing, where nobody reads any more what the block writes to standard output."""
    try:
        try:
            yield
        finally:
            if sys.stdout is not None:
                sys.stdout.flush()
    except BrokenPipeError:
        _write_to_nobody()
    except SystemExit as ended:
        # So do typer and rich end a program whose reader has gone.
        if not isinstance(ended.__context__, BrokenPipeError):
            raise
        _write_to_nobody()


def _write_to_nobody() -> None:
    """Let go nowhere what the interpreter still writes when it ends."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
