"""``hmxgraph`` and ``python -m hmxgraph``: the command line, which may be interrupted while it is still imported."""

import os
import signal
import sys
from types import FrameType

# What a shell tells of a program that SIGINT ended.
INTERRUPTED = 130


def main() -> None:
    """Run the command line; see :func:`hmxgraph.cli.main`."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        # Until the command's own modules are imported: hmxgraph.cli._commands.loaded ends this.
        signal.signal(signal.SIGINT, _leave)
    from hmxgraph.cli import main as program  # noqa: PLC0415 - slow; nothing needs cleaning up while it runs

    program()


def _leave(_number: int, _frame: FrameType | None) -> None:
    """End at once: an exception would come out of whatever module is being imported, as one of its own perhaps."""
    sys.stderr.write("interrupted\n")
    sys.stderr.flush()
    os._exit(INTERRUPTED)


if __name__ == "__main__":
    main()
